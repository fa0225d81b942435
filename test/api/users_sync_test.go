package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// provision is user.create by the service that syncs users.
func (p *people) provision(t testing.TB, body string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", p.URL+"/api/v1/users", p.sync, body)
}

// TestProvisionedUserIsWhatWasSent: every field, every status, with an account or
// without; an INVITED one gets the mail, and nobody a role.
func TestProvisionedUserIsWhatWasSent(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	whole := fmt.Sprintf(`{"email":"Whole@%[1]s.example","name":"Whole","external_id":"whole-%[1]s","account_id":%[1]q,"status":"WAITLISTED","is_verified":true,`+
		`"authentication_type":"github","authentication_partner":"OIDC","authentication_partner_id":"idp|whole-%[1]s","metadata":{"$ne":{"b":1e3}},"profile_pic_url":"https://p.example/w"}`, p.Account)
	r := p.provision(t, whole)
	record, _ := harness.At(r.Body, "user").(map[string]any)
	if r.Status != 201 || !strings.Contains(string(r.Raw), `{"$ne":{"b":1e3}}`) {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	for field, want := range map[string]any{
		"email": "Whole@" + p.Account + ".example", "name": "Whole", "external_id": "whole-" + p.Account, "account_id": p.Account, "status": "WAITLISTED", "is_verified": true,
		"authentication_type": "github", "authentication_partner": "OIDC", "authentication_partner_id": "idp|whole-" + p.Account, "profile_pic_url": "https://p.example/w",
	} {
		if record[field] != want {
			t.Errorf("%s is %v, want %v", field, record[field], want)
		}
	}
	wantSame(t, "user.find", record, p.record(t, "whole-"+p.Account))
	if roles := rolesOf(t, p.Scene, "whole-"+p.Account); len(roles) != 0 {
		t.Errorf("roles %v", roles)
	}
	least := p.provision(t, fmt.Sprintf(`{"email":"least@%s.example","name":null}`, p.Account))
	harness.WantFields(t, "the least", least.Body["user"], "id", "email", "external_id", "name", "is_verified", "status", "authentication_type", "created_at", "updated_at")
	if user := least.Body["user"]; least.Status != 201 || harness.At(user, "status") != "ACTIVE" || harness.At(user, "authentication_type") != "unknown" || harness.At(user, "is_verified") != false || harness.At(user, "name") != "" {
		t.Errorf("%d %s", least.Status, least.Raw)
	}
	for _, status := range []string{"ACTIVE", "INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING", "INVITED"} {
		email := strings.ToLower(status) + "@" + p.Account + ".example"
		r := p.provision(t, fmt.Sprintf(`{"email":%q,"account_id":%q,"status":%q}`, email, p.Account, status))
		id, _ := harness.At(r.Body, "user", "external_id").(string)
		if r.Status != 201 || harness.At(r.Body, "user", "status") != status {
			t.Errorf("%s: %d %s", status, r.Status, r.Raw)
		}
		want := map[bool]int{true: 200, false: 401}[status == "ACTIVE"]
		if r := p.on(t, "GET", "/users/"+id+"/profile", p.UserToken(t, id), ""); r.Status != want {
			t.Errorf("%s: user_profile.get: %d %s, want %d", status, r.Status, r.Raw, want)
		}
	}
	p.Drained(t)
	if invited, others := mailsTo(t, p.Gateway, "invited@"+p.Account+".example"), mailsTo(t, p.Gateway, "active@"+p.Account+".example"); invited != 1 || others != 0 {
		t.Errorf("%d mails to who is invited, %d to who is not", invited, others)
	}
}

// TestProvisioningIsRefused: what is wrong, and each way in which two users could be
// meant by one address, id or subject; nobody is made.
func TestProvisioningIsRefused(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	p.linked(t, p.Dan, "idp.dan-"+p.Account)
	for name, c := range map[string]struct {
		fields string
		status int
		code   string
	}{
		"an unknown account":        {`"account_id":"acct-absent-v1"`, 400, "REQ_001"},
		"an invitation to nothing":  {`"status":"INVITED"`, 400, "REQ_001"},
		"an invitation with a name": {fmt.Sprintf(`"status":"INVITED","account_id":%q,"authentication_partner_id":"idp|x"`, p.Account), 400, "REQ_001"},
		"an unknown status":         {`"status":"DELETED"`, 400, "REQ_001"},
		"an unknown field":          {`"role":"account_admin"`, 400, "REQ_001"},
		"an id of its own choice":   {`"id":"00000000-0000-4000-8000-000000000000"`, 400, "REQ_001"},
		"a blank name":              {`"name":""`, 400, "REQ_001"},
		"a malformed external id":   {`"external_id":"a b"`, 400, "REQ_001"},
		"a service's external id":   {`"external_id":"service-x"`, 400, "REQ_001"},
		"a service's subject":       {`"authentication_partner_id":"service-x"`, 400, "REQ_001"},
		"another provider":          {`"authentication_partner":"GOOGLE"`, 400, "REQ_001"},
		"a type of 65 characters":   {fmt.Sprintf(`"authentication_type":%q`, strings.Repeat("x", 65)), 400, "REQ_001"},
		"metadata as text":          {`"metadata":"{}"`, 400, "REQ_001"},
		"an external id in use":     {fmt.Sprintf(`"external_id":%q`, p.Dan), 409, "USER_002"},
		"another's subject as id":   {fmt.Sprintf(`"external_id":"idp.dan-%s"`, p.Account), 409, "USER_002"},
		"another's UUID as id":      {fmt.Sprintf(`"external_id":%q`, harness.UUIDOf(p.Dan)), 409, "USER_002"},
		"a subject in use":          {fmt.Sprintf(`"authentication_partner_id":"idp.dan-%s"`, p.Account), 409, "USER_002"},
		"another's id as subject":   {fmt.Sprintf(`"authentication_partner_id":%q`, p.Dan), 409, "USER_002"},
	} {
		wantUserRefusal(t, name, p.provision(t, fmt.Sprintf(`{"email":"x@%s.example",%s}`, p.Account, c.fields)), c.status, c.code)
	}
	for name, email := range map[string]string{"an address in use": strings.ToUpper(p.Dan) + "@team.EXAMPLE", "the admin's": "admin-" + teamNameOf(p.Team) + "@scene.example"} {
		wantUserRefusal(t, name, p.provision(t, fmt.Sprintf(`{"email":%q}`, email)), 409, "USER_002")
	}
	for _, email := range []string{`""`, `"x"`, `"ä@b.example"`, `null`, `["a@b.example"]`} {
		wantUserRefusal(t, email, p.provision(t, `{"email":`+email+`}`), 400, "REQ_001")
	}
	r := harness.Call(t, "GET", p.URL+"/api/v1/users?email=x@"+p.Account+".example", p.sync, "")
	if string(r.Raw) != `{"users":[]}` {
		t.Errorf("made by what was refused: %s", r.Raw)
	}
}

// TestUsersAreFoundByOneName: by the address in any letters or the external id, and by
// exactly one of them.
func TestUsersAreFoundByOneName(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	get := func(query string) harness.Reply {
		return harness.Call(t, "GET", p.URL+"/api/v1/users"+query, p.sync, "")
	}
	for _, query := range []string{"?email=" + strings.ToUpper(p.Bob) + "@team.example", "?external_id=" + p.Bob} {
		if r := get(query); r.Status != 200 || len(r.Body) != 1 || strings.Join(harness.Texts(r.Body["users"], "external_id"), " ") != p.Bob {
			t.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
	for _, query := range []string{"?external_id=" + strings.ToUpper(p.Bob), "?external_id=" + harness.UUIDOf(p.Bob), "?email=absent@team.example"} {
		if r := get(query); r.Status != 200 || string(r.Raw) != `{"users":[]}` {
			t.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
	for _, query := range []string{
		"?email=a@b.example&external_id=a", "?email=", "?external_id=", "?email=x", "?external_id=a%20b", "?email=a@b.example&email=a@b.example", "?email[$ne]=a@b.example",
		"?name=Bob", "?authentication_partner_id=x", "?external_id=a&page_size=1",
	} {
		wantUserRefusal(t, query, get(query), 400, "REQ_001")
	}
	for who, token := range map[string]string{"the admin": p.AdminToken, "oneself": p.UserToken(t, p.Bob), "platform:admin": p.Platform} {
		wantUserRefusal(t, who, harness.Call(t, "GET", p.URL+"/api/v1/users?external_id="+p.Bob, token, ""), 403, "AUTH_003")
		wantUserRefusal(t, who+", user.create", harness.Call(t, "POST", p.URL+"/api/v1/users", token, `{"email":"y@b.example"}`), 403, "AUTH_003")
	}
}

// TestInvitationIsSentAgainToInviteesOnly: a member of any other status is a conflict,
// a member who may not invite is refused, and an invitee had theirs a moment ago.
func TestInvitationIsSentAgainToInviteesOnly(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	path := func(user string) string { return "/users/" + user + "/invitation" }
	for _, status := range []string{"ACTIVE", "INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING"} {
		setStatus(t, p.Scene, p.Bob, status)
		wantUserRefusal(t, status, p.Do(t, "POST", path(p.Bob), ""), 409, "USER_002")
	}
	email := "again@" + p.Account + ".example"
	harness.WantMessage(t, "user.invite", p.Invite(t, email))
	r := harness.Call(t, "GET", p.URL+"/api/v1/users?email="+email, p.sync, "")
	id, _ := harness.At(r.Body, "users", 0, "external_id").(string)
	wantUserRefusal(t, "within a minute of user.invite", p.Do(t, "POST", path(id), ""), 429, "RATE_001")
	wantUserRefusal(t, "by another member", p.on(t, "POST", path(id), p.UserToken(t, p.Dan), ""), 403, "AUTH_003")
	wantUserRefusal(t, "with a body", p.Do(t, "POST", path(id), `{"email":"x@b.example"}`), 400, "REQ_001")
	p.Drained(t)
	if mails := mailsTo(t, p.Gateway, email); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}
