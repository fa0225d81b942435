package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSecurityGroupClaims: x-account-id must be there and be the path's, x-user-id,
// where it is sent, the caller: else 401, before anything else of the request is looked at. package gateway has the table.
func TestSecurityGroupClaims(t *testing.T) {
	t.Parallel()
	w, other := newWall(t), newWall(t)
	for method, body := range map[string]string{"POST": w.draft("web", ""), "GET": ""} {
		for name, c := range map[string]struct {
			token   string
			headers []string
			status  int
			code    string
		}{
			"no account":             {w.Token, nil, 401, "UNAUTHORIZED"},
			"another account":        {w.Token, []string{"x-account-id", other.Account}, 401, "UNAUTHORIZED"},
			"another user":           {w.Token, []string{"x-account-id", w.Account, "x-user-id", w.Bob}, 401, "UNAUTHORIZED"},
			"two accounts":           {w.Token, []string{"x-account-id", w.Account, "x-account-id", other.Account}, 400, "BAD_REQUEST"},
			"another account's user": {other.Token, []string{"x-account-id", w.Account}, 403, "FORBIDDEN"},
		} {
			wantWallRefusal(t, method+" "+name, harness.Call(t, method, w.url(""), c.token, body, c.headers...), c.status, c.code)
		}
		if r := harness.Call(t, method, w.url(""), w.Token, body, "x-account-id", w.Account, "x-user-id", w.Admin); r.Status/100 != 2 {
			t.Errorf("%s with true claims: %d %s", method, r.Status, r.Raw)
		}
	}
	// Somebody without a credential, or with a lie, learns nothing of the path's forms.
	odd := w.Path("/projects/web/security-groups")
	wantWallRefusal(t, "a false claim and a bad path", harness.Call(t, "GET", odd, w.Token, "", "x-account-id", other.Account), 401, "UNAUTHORIZED")
	wantWallRefusal(t, "a bad path", harness.Call(t, "GET", odd, w.Token, "", "x-account-id", w.Account), 400, "BAD_REQUEST", "projectId")
}

// TestSecurityGroupPathsHaveTheForm of the specification: 400 else.
func TestSecurityGroupPathsHaveTheForm(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for name, c := range map[string]struct{ account, project, wrong string }{
		"no account form": {"acme", w.Project, "accountId"},
		"no project form": {w.Account, "web", "projectId"},
		"neither":         {"acme", "web", "accountId projectId"},
		"a hyphen":        {w.Account, "proj-a-b-v1", "projectId"},
	} {
		path := w.URL + "/api/v1/accounts/" + c.account + "/projects/" + c.project + "/security-groups"
		for _, way := range []struct{ method, rest string }{{"POST", ""}, {"GET", ""}, {"GET", "/sg-x-v1"}, {"PATCH", "/sg-x-v1"}, {"DELETE", "/sg-x-v1"}, {"POST", "/sg-x-v1/rules"}, {"DELETE", "/sg-x-v1/rules/sgr-x-v1"}} {
			r := harness.Call(t, way.method, path+way.rest, w.Token, "", "x-account-id", c.account)
			wantWallRefusal(t, way.method+way.rest+" "+name, r, 400, "BAD_REQUEST", strings.Fields(c.wrong)...)
		}
	}
}

// TestWhoMayDoWhatWithSecurityGroups: an action each, for readers, admins of the project
// and of the account, keys and services; 403 changes nothing.
func TestWhoMayDoWhatWithSecurityGroups(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	another := newProject(t, w.Scene, "another")
	id := w.made(t, "web", onPort(1, ""))
	rule, _ := harness.At(w.must(t, 200, "GET", "/"+id, "").Body, "security_group", "rules", 0, "id").(string)
	w.Grant(t, "project_reader", w.Bob, w.Project)
	w.Grant(t, "project_admin", w.Carol, another)
	w.Grant(t, "team_member", w.Dan, "")
	readKey, _ := newKey(t, w.Scene, w.Admin, readOnly)
	writeKey, _ := newKey(t, w.Scene, w.Admin, writeOnly)
	reads := map[string]string{"GET ": "", "GET /" + id: ""}
	writes := map[string]string{
		"POST ": w.draft("new", ""), "PATCH /" + id: `{"description":"x"}`, "DELETE /" + id: "", "POST /" + id + "/rules": onPort(2, ""), "DELETE /" + id + "/rules/" + rule: "",
	}
	for name, c := range map[string]struct {
		caller *wall
		reads  bool
		writes bool
	}{
		"a reader of the project":       {w.as(w.UserToken(t, w.Bob)), true, false},
		"an admin of another project":   {w.as(w.UserToken(t, w.Carol)), false, false},
		"a member without such a role":  {w.as(w.UserToken(t, w.Dan)), false, false},
		"a key that reads":              {w.as(readKey), true, false},
		"a key that writes":             {w.as(writeKey), false, true},
		"a service":                     {w.as(w.Platform), false, false},
		"the account's admin elsewhere": {w.elsewhere("proj-absent-v1"), false, false},
	} {
		for way, body := range reads {
			method, rest, _ := strings.Cut(way, " ")
			if r := c.caller.do(t, method, rest, body); c.reads && r.Status != 200 {
				t.Errorf("%s: %s: %d %s", name, way, r.Status, r.Raw)
			} else if !c.reads {
				wantWallRefusal(t, name+": "+way, r, 403, "FORBIDDEN")
			}
		}
		for way, body := range writes {
			method, rest, _ := strings.Cut(way, " ")
			if !c.writes {
				wantWallRefusal(t, name+": "+way, c.caller.do(t, method, rest, body), 403, "FORBIDDEN")
			}
		}
	}
	if g := w.must(t, 200, "GET", "/"+id, ""); len(harness.At(g.Body, "security_group", "rules").([]any)) != 1 || harness.At(g.Body, "security_group", "description") != nil {
		t.Errorf("%s", g.Raw)
	}
	carol := w.as(w.UserToken(t, w.Carol)).elsewhere(another)
	for _, caller := range []*wall{carol, w.as(writeKey), w} { // each of them may do everything
		created := caller.made(t, "mine-"+caller.Project+fmt.Sprint(len(caller.Token)))
		caller.must(t, 200, "PATCH", "/"+created, `{"description":"x"}`)
		r := caller.must(t, 201, "POST", "/"+created+"/rules", onPort(2, ""))
		caller.must(t, 200, "DELETE", "/"+created+"/rules/"+harness.At(r.Body, "security_group_rule", "id").(string), "")
		caller.must(t, 200, "DELETE", "/"+created, "")
	}
}

// TestRoleOfOneSecurityGroup: a RESOURCE role reaches that group with its rules, and no
// other group of the project.
func TestRoleOfOneSecurityGroup(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	member, other := w.made(t, "mine"), w.made(t, "other")
	role, _ := w.Must(t, 201, "POST", "/roles", `{"name":"keeper","scope":"RESOURCE","permissions":["project:security_group:read","project:security_group:update"]}`).Body["id"].(string)
	w.Must(t, 200, "PUT", "/roles/"+role+"/assignments/"+w.Bob, fmt.Sprintf(`{"projectId":%q,"resourceId":%q}`, w.Project, "security-groups/"+member))
	bob := w.as(w.UserToken(t, w.Bob))
	bob.must(t, 200, "GET", "/"+member, "")
	r := bob.must(t, 201, "POST", "/"+member+"/rules", onPort(1, ""))
	bob.must(t, 200, "DELETE", "/"+member+"/rules/"+harness.At(r.Body, "security_group_rule", "id").(string), "")
	for name, r := range map[string]harness.Reply{
		"another": bob.do(t, "GET", "/"+other, ""), "absent": bob.do(t, "GET", "/sg-absent-v1", ""), "the list": bob.do(t, "GET", "", ""),
		"deleting it": bob.do(t, "DELETE", "/"+member, ""), "a rule of another": bob.do(t, "POST", "/"+other+"/rules", onPort(1, "")),
	} {
		wantWallRefusal(t, name, r, 403, "FORBIDDEN")
	}
}
