package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// updates are bodies of user.update, one a field, and the record's value after it.
var updates = map[string]struct {
	body string
	want any
}{
	"name":                      {`{"name":" Ada  Lovelace "}`, "Ada  Lovelace"},
	"profile_pic_url":           {`{"profile_pic_url":"https://p.example/ada.png"}`, "https://p.example/ada.png"},
	"metadata":                  {`{"metadata":{"big":9007199254740993,"$ne":[1.50]}}`, map[string]any{"big": json.Number("9007199254740993"), "$ne": []any{json.Number("1.50")}}},
	"status":                    {`{"status":"ACTIVE"}`, "ACTIVE"},
	"email":                     {`{"email":"Update-%s@update.example"}`, "Update-%s@update.example"},
	"is_verified":               {`{"is_verified":false}`, false},
	"authentication_type":       {`{"authentication_type":"google-oauth2"}`, "google-oauth2"},
	"authentication_partner":    {`{"authentication_partner":"OIDC"}`, "OIDC"},
	"authentication_partner_id": {`{"authentication_partner_id":"idp|%s"}`, "idp|%s"},
}

// TestUpdateReachesTheFieldsOfTheCaller covers the user, a holder of account:user:update, the service that syncs users,
// and API keys. Each reaches its own fields. Only sent fields change, and a refused request changes nothing.
func TestUpdateReachesTheFieldsOfTheCaller(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	holds(t, p.Scene, p.Carol, `"account:user:update","account:user:read"`)
	readKey, _ := newKey(t, p.Scene, p.Admin, readOnly)
	writeKey, _ := newKey(t, p.Scene, p.Bob, writeOnly)
	const own, manages, identity = "name profile_pic_url metadata", "status", "email is_verified authentication_type authentication_partner authentication_partner_id"
	for _, who := range []struct{ name, token, reaches string }{
		{"oneself", p.UserToken(t, p.Bob), own},
		{"one's own key that writes", writeKey, own},
		{"a holder of the action", p.UserToken(t, p.Carol), own + " " + manages},
		{"the admin", p.AdminToken, own + " " + manages},
		{"the admin's key that only reads", readKey, ""},
		{"another member", p.UserToken(t, p.Dan), ""},
		{"a service without the scope", p.Checker, ""},
		{"the service that syncs users", p.sync, own + " " + manages + " " + identity},
	} {
		for field, c := range updates {
			before := p.record(t, p.Bob)
			r := p.update(t, p.Bob, who.token, strings.ReplaceAll(c.body, "%s", p.Account))
			after := p.record(t, p.Bob)
			if !strings.Contains(" "+who.reaches+" ", " "+field+" ") {
				wantUserRefusal(t, field+" by "+who.name, r, 403, "AUTH_003")
				wantSame(t, field+" by "+who.name, before, after)
				continue
			}
			harness.WantMessage(t, field+" by "+who.name, r)
			want := c.want
			if text, ok := want.(string); ok {
				want = strings.ReplaceAll(text, "%s", p.Account)
			}
			if fmt.Sprint(after[field]) != fmt.Sprint(want) {
				t.Errorf("%s by %s: %v, want %v", field, who.name, after[field], want)
			}
			for _, changes := range []string{field, "updated_at", "authentication_partner"} { // a subject has its partner
				delete(before, changes)
				delete(after, changes)
			}
			wantSame(t, "beside "+field+" by "+who.name, before, after)
		}
	}
}

// TestUpdateIgnoresWhatIsReadOnly: a record that was read may be sent back as it is;
// null is not there, and either id of the user names them.
func TestUpdateIgnoresWhatIsReadOnly(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	before := p.record(t, p.Bob)
	uuid, _ := before["id"].(string)
	for name, body := range map[string]string{
		"what is read-only":  `{"external_id":"x","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}`,
		"the user's UUID":    fmt.Sprintf(`{"id":%q}`, uuid),
		"the external id":    fmt.Sprintf(`{"id":%q}`, p.Bob),
		"their account":      fmt.Sprintf(`{"account_id":%q}`, p.Account),
		"null for all":       `{"name":null,"email":null,"status":null,"metadata":null,"id":null,"is_verified":null}`,
		"nothing":            `{}`,
		"read-only, nothing": `{"external_id":null,"created_at":5}`,
	} {
		for _, id := range []string{uuid, p.Bob} {
			harness.WantMessage(t, name, p.update(t, id, p.AdminToken, body))
		}
	}
	whole, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	harness.WantMessage(t, "the whole record by the service", p.update(t, uuid, p.sync, string(whole)))
	after := p.record(t, p.Bob)
	delete(before, "updated_at")
	delete(after, "updated_at")
	wantSame(t, "after all", before, after)
}

// TestUpdateIsRefused, and then changes nothing, also where a part of it was good.
func TestUpdateIsRefused(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	p.linked(t, p.Dan, "idp|dan-"+p.Account)
	before := p.record(t, p.Bob)
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"another's id in the body":    {p.AdminToken, fmt.Sprintf(`{"name":"N","id":%q}`, p.Carol), 400, "REQ_001"},
		"an absent id in the body":    {p.AdminToken, `{"name":"N","id":"x"}`, 400, "REQ_001"},
		"another account in the body": {p.AdminToken, fmt.Sprintf(`{"name":"N","account_id":%q}`, other.Account), 400, "REQ_001"},
		"INVITED by the service":      {p.sync, `{"name":"N","status":"INVITED"}`, 400, "REQ_001"},
		"a status that is none":       {p.AdminToken, `{"name":"N","status":"active"}`, 400, "REQ_001"},
		"an unknown field":            {p.AdminToken, `{"name":"N","role":"account_admin"}`, 400, "REQ_001"},
		"a field in other letters":    {p.AdminToken, `{"Name":"N"}`, 400, "REQ_001"},
		"a field twice":               {p.AdminToken, `{"name":"N","name":"M"}`, 400, "REQ_001"},
		"a blank name":                {p.AdminToken, `{"name":" "}`, 400, "REQ_001"},
		"a long name":                 {p.AdminToken, fmt.Sprintf(`{"name":%q}`, strings.Repeat("ä", 256)), 400, "REQ_001"},
		"a picture that is a script":  {p.AdminToken, `{"name":"N","profile_pic_url":"javascript:alert(1)"}`, 400, "REQ_001"},
		"metadata that is a list":     {p.AdminToken, `{"name":"N","metadata":[]}`, 400, "REQ_001"},
		"metadata over 16 KiB":        {p.AdminToken, fmt.Sprintf(`{"metadata":{"x":%q}}`, strings.Repeat("x", 16<<10)), 400, "REQ_001"},
		"a list":                      {p.AdminToken, `[]`, 400, "REQ_001"},
		"no body":                     {p.AdminToken, ``, 400, "REQ_001"},
		"verified as text":            {p.sync, `{"name":"N","is_verified":"true"}`, 400, "REQ_001"},
		"another provider":            {p.sync, `{"name":"N","authentication_partner":"oidc"}`, 400, "REQ_001"},
		"a type with a blank":         {p.sync, `{"name":"N","authentication_type":"a b"}`, 400, "REQ_001"},
		"a service's subject":         {p.sync, `{"name":"N","authentication_partner_id":"service-x"}`, 400, "REQ_001"},
		"an address in Unicode":       {p.sync, `{"name":"N","email":"ada@exämple.com"}`, 400, "REQ_001"},
		"an address in use":           {p.sync, fmt.Sprintf(`{"name":"N","email":%q}`, strings.ToUpper(p.Dan)+"@TEAM.example"), 409, "USER_002"},
		"an address in use elsewhere": {p.sync, fmt.Sprintf(`{"name":"N","email":%q}`, other.Dan+"@team.example"), 409, "USER_002"},
		"a subject in use":            {p.sync, fmt.Sprintf(`{"name":"N","authentication_partner_id":%q}`, "idp|dan-"+p.Account), 409, "USER_002"},
		"another's external id":       {p.sync, fmt.Sprintf(`{"name":"N","authentication_partner_id":%q}`, other.Dan), 409, "USER_002"},
		"another's UUID":              {p.sync, fmt.Sprintf(`{"name":"N","authentication_partner_id":%q}`, harness.UUIDOf(p.Dan)), 409, "USER_002"},
		"a status by oneself":         {p.UserToken(t, p.Bob), `{"name":"N","status":"ACTIVE"}`, 403, "AUTH_003"},
		"an address by the admin":     {p.AdminToken, fmt.Sprintf(`{"name":"N","email":"n@%s.example"}`, p.Account), 403, "AUTH_003"},
	} {
		wantUserRefusal(t, name, p.update(t, p.Bob, c.token, c.body), c.status, c.code)
		wantSame(t, name, before, p.record(t, p.Bob))
	}
}

// TestUpdateIsOfTheNamedAccount: the header is needed but for the service that syncs
// users, it must be the caller's account, and another account's user is not there.
func TestUpdateIsOfTheNamedAccount(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	put := func(user, token string, headers ...string) harness.Reply {
		return harness.Call(t, "PUT", p.URL+"/api/v1/users/"+user, token, `{"name":"N"}`, headers...)
	}
	bob, theirs := p.UserToken(t, p.Bob), other.record(t, other.Bob)
	wantUserRefusal(t, "no header", put(p.Bob, p.AdminToken), 400, "REQ_001")
	wantUserRefusal(t, "no header by oneself", put(p.Bob, bob), 400, "REQ_001")
	wantUserRefusal(t, "the header twice", put(p.Bob, bob, "x-account-id", p.Account, "x-account-id", p.Account), 400, "REQ_001")
	for _, account := range []string{other.Account, "acct-absent-v1"} { // the answer hides whether it exists
		for _, user := range []string{other.Bob, p.Bob, "user-absent-v1"} {
			wantUserRefusal(t, account+" "+user, put(user, p.AdminToken, "x-account-id", account), 403, "AUTH_003")
		}
	}
	absent := put("user-absent-v1", p.AdminToken, "x-account-id", p.Account)
	wantUserRefusal(t, "nobody", absent, 404, "USER_001")
	for _, user := range []string{other.Bob, harness.UUIDOf(other.Bob)} {
		for who, token := range map[string]string{"the admin": p.AdminToken, "the service": p.sync} {
			if r := put(user, token, "x-account-id", p.Account); r.Status != 404 || string(r.Raw) != string(absent.Raw) {
				t.Errorf("%s, of another account, by %s: %d %s", user, who, r.Status, r.Raw)
			}
		}
	}
	wantSame(t, "another account's user", theirs, other.record(t, other.Bob))
	harness.WantMessage(t, "the service without the header", put(other.Bob, p.sync))
	harness.WantMessage(t, "the service with it", put(other.Bob, p.sync, "x-account-id", other.Account))
	wantUserRefusal(t, "the service, of nobody", put("user-absent-v1", p.sync), 404, "USER_001")
}

// TestOnlyActiveUsersAreServed: with each other status that user.update sets, tokens and keys of the
// user are refused like unknown ones, from its answer on, and authorization.check denies; ACTIVE serves again.
func TestOnlyActiveUsersAreServed(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	key, _ := newKey(t, p.Scene, p.Bob, readWrite)
	token, profile := p.UserToken(t, p.Bob), p.Path("/users/"+p.Bob+"/profile")
	p.Grant(t, "project_reader", p.Bob, p.Project)
	for _, status := range []string{"INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING"} {
		setStatus(t, p.Scene, p.Bob, status)
		if got := p.record(t, p.Bob)["status"]; got != status {
			t.Errorf("%s is shown as %v", status, got)
		}
		for what, credential := range map[string]string{"token": token, "key": key} {
			wantUserRefusal(t, status+" with a "+what, harness.Call(t, "GET", profile, credential, ""), 401, "AUTH_002")
			wantUserRefusal(t, status+" with a "+what+", user.update", p.update(t, p.Bob, credential, `{"name":"N"}`), 401, "AUTH_002")
		}
		if p.Allowed(t, p.Bob, "project:instance:read", "/projects/"+p.Project+"/x") {
			t.Errorf("%s: authorization.check allows", status)
		}
		setStatus(t, p.Scene, p.Bob, "ACTIVE")
		for what, credential := range map[string]string{"token": token, "key": key} {
			if r := harness.Call(t, "GET", profile, credential, ""); r.Status != 200 {
				t.Errorf("ACTIVE after %s with a %s: %d %s", status, what, r.Status, r.Raw)
			}
		}
	}
}
