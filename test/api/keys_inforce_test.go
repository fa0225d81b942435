package api_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	keyRounds = 100
	keyUsers  = 4
)

// keyUser uses a key in a loop from one connection until it is stopped.
type keyUser struct {
	revoked, stop atomic.Bool
	used, wrong   atomic.Int64
	wait          sync.WaitGroup
}

func (u *keyUser) start(t testing.TB, url, key string) {
	u.wait.Go(func() {
		for !u.stop.Load() {
			revoked := u.revoked.Load() // before the request is sent
			r, err := harness.TryCall("GET", url, key, "")
			switch {
			// Revoked under way is 403; 503 is a busy machine's, and serves nothing either.
			case err != nil || r.Status != 200 && r.Status != 401 && r.Status != 403 && r.Status != 503:
				t.Errorf("using a key: %v %d %s", err, r.Status, r.Raw)
				return
			case r.Status == 200 && revoked:
				u.wrong.Add(1)
			case r.Status == 200:
				u.used.Add(1)
			}
		}
	})
}

// TestRevokedKeyIsRefusedAtOnce: from the answer of api_key.revoke on, no request with the key is
// served, while others use it; many times.
func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	profile, token := s.Path("/users/"+s.Bob+"/profile"), s.UserToken(t, s.Bob)
	for round := range harness.Rounds(keyRounds) {
		key, id := newKey(t, s.Scene, s.Bob, readWrite)
		u := &keyUser{}
		for range keyUsers {
			u.start(t, profile, key)
		}
		if r := harness.Call(t, "GET", profile, "", "", "X-API-Key", key); r.Status != 200 {
			t.Fatalf("round %d: a new key: %d %s", round, r.Status, r.Raw)
		}
		harness.Soon(t, "the key is used", func() bool { return u.used.Load() > 0 || t.Failed() })
		if r := harness.Call(t, "DELETE", s.Path("/users/"+s.Bob+"/keys/"+id), token, ""); r.Status != 200 {
			t.Fatalf("round %d: api_key.revoke: %d %s", round, r.Status, r.Raw)
		}
		u.revoked.Store(true)
		next := harness.Call(t, "GET", profile, key, "")
		u.stop.Store(true)
		u.wait.Wait()
		if next.Status != 401 || u.wrong.Load() > 0 || t.Failed() {
			t.Fatalf("round %d: the next request: %d; %d others were served after the answer", round, next.Status, u.wrong.Load())
		}
	}
}

// TestKeyFollowsItsOwnerAtOnce: suspended and active again, removed for ever.
func TestKeyFollowsItsOwnerAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Bob, readWrite)
	profile := s.Path("/users/" + s.Bob + "/profile")
	for round := range 20 {
		setStatus(t, s.Scene, s.Bob, "SUSPENDED")
		wantUserRefusal(t, "of a suspended owner", harness.Call(t, "GET", profile, key, ""), 401, "AUTH_002")
		setStatus(t, s.Scene, s.Bob, "ACTIVE")
		if r := harness.Call(t, "GET", profile, key, ""); r.Status != 200 {
			t.Fatalf("round %d: of an owner who is active again: %d %s", round, r.Status, r.Raw)
		}
	}
	s.Must(t, 200, "DELETE", "/users/"+s.Bob, "")
	wantUserRefusal(t, "of a removed owner", harness.Call(t, "GET", profile, key, ""), 401, "AUTH_002")
	u := harness.Call(t, "GET", s.URL+"/api/v1/users?external_id="+s.Bob, s.ServiceToken(t, "users:sync"), "")
	email, _ := harness.At(u.Body, "users", 0, "email").(string)
	if r := s.Invite(t, email); r.Status != 200 {
		t.Fatalf("user.invite: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "of an owner who came back", harness.Call(t, "GET", profile, key, ""), 401, "AUTH_002")
}

// TestKeyShrinksWithItsOwnersRoles: by handled calls and by authorization.check asked with the key about
// its owner, from the answer of role_assignment.revoke on.
func TestKeyShrinksWithItsOwnersRoles(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Bob, readWrite)
	for round := range 20 {
		s.Grant(t, "account_admin", s.Bob, "")
		if r := harness.Call(t, "GET", s.Path("/users"), key, ""); r.Status != 200 || !askWith(t, s.Scene, key, s.Bob, "project:instance:create") {
			t.Fatalf("round %d: an admin's key: %d %s", round, r.Status, r.Raw)
		}
		s.Must(t, 200, "DELETE", harness.AssignmentPath("account_admin", s.Bob, ""), "")
		wantUserRefusal(t, "user.list of a demoted owner", harness.Call(t, "GET", s.Path("/users"), key, ""), 403, "AUTH_003")
		harness.WantRefusal(t, harness.Call(t, "POST", s.Path("/projects"), key, `{"name":"P"}`), 403, "FORBIDDEN")
		if askWith(t, s.Scene, key, s.Bob, "project:instance:create") {
			t.Fatalf("round %d: the key allows what its owner may not do any more", round)
		}
	}
}

// askWith is authorization.check with a credential about a user.
func askWith(t testing.TB, s *harness.Scene, credential, user, action string) bool {
	t.Helper()
	r := harness.Call(t, "POST", s.URL+"/api/v1/authorize/accounts/"+s.Account+"/projects/"+s.Project+"/instances", "", "",
		"X-API-Key", credential, "X-User-ID", user, "X-Account-ID", s.Account, "X-Action", action)
	if r.Status != 200 {
		t.Fatalf("authorization.check: %d %s", r.Status, r.Raw)
	}
	return r.Body["allowed"] == true
}
