package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAccountIsCreated: 201 with the account and its admin, who can act at once
// when the external id is given, and is INVITED when not.
func TestAccountIsCreated(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	platform := g.ServiceToken(t, "platform:admin")
	r := harness.Call(t, "POST", g.URL+"/api/v1/accounts", platform,
		`{"id":"acct-n1a-v1","name":"Acme","admin":{"email":"Ada@N1.example","name":"Ada","external_id":"user-n1ada-v1"}}`)
	if r.Status != 201 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	harness.WantFields(t, "the answer", r.Body, "account", "admin")
	harness.WantFields(t, "the account", r.Body["account"], "id", "name", "status", "created_at", "updated_at")
	harness.WantFields(t, "the admin", r.Body["admin"], "id", "email", "name", "status", "is_verified", "created_at", "updated_at")
	harness.WantTimes(t, r.Body["account"], "created_at", "updated_at")
	harness.WantTimes(t, r.Body["admin"], "created_at", "updated_at")
	for path, want := range map[string]any{"account id": "acct-n1a-v1", "account status": "ACTIVE", "admin id": "user-n1ada-v1", "admin status": "ACTIVE", "admin email": "Ada@N1.example"} {
		side, name, _ := strings.Cut(path, " ")
		if got := harness.At(r.Body, side, name); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-n1a-v1/roles", g.UserToken(t, "user-n1ada-v1"), ""); r.Status != 200 {
		t.Errorf("the admin can't act: %d %s", r.Status, r.Raw)
	}
	r = harness.Call(t, "POST", g.URL+"/api/v1/accounts", platform, `{"name":"Acme","admin":{"email":"bea@n1.example"}}`)
	account, _ := harness.At(r.Body, "account", "id").(string)
	admin, _ := harness.At(r.Body, "admin", "id").(string)
	if r.Status != 201 || len(account) != len("acct--v1")+26 || len(admin) != len("user--v1")+26 || harness.At(r.Body, "admin", "status") != "INVITED" {
		t.Errorf("without ids: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+account+"/roles", g.UserToken(t, admin), ""); r.Status != 401 {
		t.Errorf("an admin who was only invited acts: %d %s", r.Status, r.Raw)
	}
}

// TestAccountThatCannotBeCreated is refused and leaves nothing behind.
func TestAccountThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	url := s.URL + "/api/v1/accounts"
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"401 nobody":           {"", `{}`, 401, "UNAUTHORIZED"},
		"403 a user":           {s.AdminToken, `{}`, 403, "FORBIDDEN"},
		"403 another service":  {s.Checker, `{}`, 403, "FORBIDDEN"},
		"400 nothing":          {s.Platform, `{}`, 400, "BAD_REQUEST"},
		"409 id in use":        {s.Platform, fmt.Sprintf(`{"id":%q,"name":"N","admin":{"email":"new1@n1.example"}}`, s.Account), 409, "CONFLICT"},
		"409 admin of another": {s.Platform, fmt.Sprintf(`{"id":"acct-n1b-v1","name":"N","admin":{"email":"%s@team.example"}}`, strings.ToUpper(s.Bob)), 409, "CONFLICT"},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantRefusal(t, harness.Call(t, "POST", url, c.token, c.body), c.status, c.code)
		})
	}
	if r := harness.Call(t, "GET", url+"/acct-n1b-v1", s.Platform, ""); r.Status != 404 {
		t.Errorf("a refused account is there: %d %s", r.Status, r.Raw)
	}
	r := harness.Call(t, "POST", url, s.Platform, `{"id":"acct_x","name":"","extra":"N","admin":{"email":"not an address","external_id":"service-x"}}`)
	harness.WantRefusal(t, r, 400, "BAD_REQUEST")
	for _, field := range []string{"id: ", "name: ", "extra: ", "admin.email: ", "admin.external_id: "} {
		if !strings.Contains(string(r.Raw), `"`+field) {
			t.Errorf("no problem of %q in %s", field, r.Raw)
		}
	}
}

func TestAccountIsReadAndChanged(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	bob := s.UserToken(t, s.Bob)
	for caller, token := range map[string]string{"a member": bob, "the platform": s.Platform} {
		r := harness.Call(t, "GET", s.Path(""), token, "")
		harness.WantFields(t, "the answer", r.Body, "account")
		harness.WantFields(t, "the account", r.Body["account"], "id", "name", "status", "created_at", "updated_at")
		if r.Status != 200 || harness.At(r.Body, "account", "id") != s.Account {
			t.Errorf("%s: %d %s", caller, r.Status, r.Raw)
		}
	}
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path(""), s.Checker, ""), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "PATCH", s.Path(""), s.AdminToken, `{"name":"Mine"}`), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "PATCH", s.Path(""), s.Platform, `{"status":"CLOSED"}`), 400, "BAD_REQUEST")
	harness.WantRefusal(t, harness.Call(t, "PATCH", s.URL+"/api/v1/accounts/acct-absent-v1", s.Platform, `{"name":"N"}`), 404, "NOT_FOUND")
	r := harness.Call(t, "PATCH", s.Path(""), s.Platform, `{"name":"Renamed"}`)
	if r.Status != 200 || harness.At(r.Body, "account", "name") != "Renamed" || harness.At(r.Body, "account", "status") != "ACTIVE" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

// TestSuspendedAccountIsDenied: everything in it, its own members' reads included, until
// it is active again.
func TestSuspendedAccountIsDenied(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	if r := harness.Call(t, "PATCH", s.Path(""), s.Platform, `{"status":"SUSPENDED"}`); r.Status != 200 || harness.At(r.Body, "account", "status") != "SUSPENDED" {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	for _, rest := range []string{"", "/roles", "/groups", "/projects"} {
		harness.WantRefusal(t, s.Do(t, "GET", rest, ""), 403, "FORBIDDEN")
	}
	if s.Allowed(t, s.Admin, "project:instance:read", "/projects/"+s.Project+"/x") {
		t.Error("the admin of a suspended account is allowed")
	}
	if r := harness.Call(t, "PATCH", s.Path(""), s.Platform, `{"status":"ACTIVE"}`); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	if !s.Allowed(t, s.Admin, "project:instance:read", "/projects/"+s.Project+"/x") {
		t.Error("the admin of an account that is active again is denied")
	}
	s.Must(t, 200, "GET", "/roles", "")
}
