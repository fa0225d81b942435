package api_test

import (
	"encoding/json"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestUpdateIgnoresWhatIsReadOnly: a record that was read may be sent back as it is;
// null is not there, and either id of the user names them.
func TestUpdateIgnoresWhatIsReadOnly(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	before := p.record(t, p.Bob)
	uuid, _ := before["id"].(string)
	for name, body := range map[string]string{
		"null for all":       `{"name":null,"email":null,"status":null,"metadata":null,"id":null,"is_verified":null}`,
		"nothing":            `{}`,
		"read-only, nothing": `{"external_id":null,"created_at":5}`,
	} {
		for _, id := range []string{uuid, p.Bob} {
			harness.WantMessage(t, name, p.update(t, id, p.AdminToken, body))
		}
	}
	whole := must.Get(json.Marshal(before))(t)
	harness.WantMessage(t, "the whole record by the service", p.update(t, uuid, p.sync, string(whole)))
	after := p.record(t, p.Bob)
	delete(before, "updated_at")
	delete(after, "updated_at")
	wantSame(t, "after all", before, after)
}

// TestUpdateIsOfTheNamedAccount: the header is needed but for the service that syncs
// users, it must be the caller's account, and another account's user is not there.
func TestUpdateIsOfTheNamedAccount(t *testing.T) {
	t.Parallel()
	p, other := newPeople(t), newPeople(t)
	put := func(user, token string, headers ...string) harness.Reply {
		return harness.Call(t, "PUT", p.URL+"/api/v1/users/"+user, token, `{"name":"N"}`, headers...)
	}
	bob, foreign := p.UserToken(t, p.Bob), other.record(t, other.Bob)
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
		for caller, token := range map[string]string{"the admin": p.AdminToken, "the service": p.sync} {
			if r := put(user, token, "x-account-id", p.Account); r.Status != 404 || string(r.Raw) != string(absent.Raw) {
				t.Errorf("%s, of another account, by %s: %d %s", user, caller, r.Status, r.Raw)
			}
		}
	}
	wantSame(t, "another account's user", foreign, other.record(t, other.Bob))
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
		for kind, credential := range map[string]string{"token": token, "key": key} {
			wantUserRefusal(t, status+" with a "+kind, harness.Call(t, "GET", profile, credential, ""), 401, "AUTH_002")
			wantUserRefusal(t, status+" with a "+kind+", user.update", p.update(t, p.Bob, credential, `{"name":"N"}`), 401, "AUTH_002")
		}
		if p.Allowed(t, p.Bob, "project:instance:read", "/projects/"+p.Project+"/x") {
			t.Errorf("%s: authorization.check allows", status)
		}
		setStatus(t, p.Scene, p.Bob, "ACTIVE")
		for kind, credential := range map[string]string{"token": token, "key": key} {
			if r := harness.Call(t, "GET", profile, credential, ""); r.Status != 200 {
				t.Errorf("ACTIVE after %s with a %s: %d %s", status, kind, r.Status, r.Raw)
			}
		}
	}
}
