package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// invitee is a member of the account, invited that long ago.
func invitee(account, name string, ago time.Duration) resources.User {
	u := harness.MemberRecord(account, "user-"+name+"-v1")
	u.Status, u.IsVerified, u.InvitedAt = resources.StatusInvited, false, resources.At(time.Now().Add(-ago))
	return u
}

const (
	inForce   = 14*24*time.Hour - time.Hour
	ranOut    = 14*24*time.Hour + time.Minute
	elsewhere = "acct-elsewhere-v1"
)

// comes is a first request of the invitee, by the subject of the identity provider, for
// their profile.
func (s *signIn) comes(t testing.TB, u resources.User) harness.Reply {
	t.Helper()
	return harness.Call(t, "GET", s.profile(u), s.people.sign(t, "idp|"+u.ExternalID, "email", u.Email, "email_verified", true), "")
}

func (s *signIn) profile(u resources.User) string {
	return s.URL + "/api/v1/accounts/" + signInAccount + "/users/" + u.ExternalID + "/profile"
}

// asked is user.invite by the admin, as it is answered.
func (s *signIn) asked(t testing.TB, email string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.URL+"/api/v1/accounts/"+signInAccount+"/users/invite", s.admin, fmt.Sprintf(`{"email":%q}`, email))
}

// TestInvitationBindsForFourteenDays: until then it is signed in with and keeps other
// accounts away, past it neither; user.resend_invitation starts it anew.
func TestInvitationBindsForFourteenDays(t *testing.T) {
	t.Parallel()
	current, old := invitee(signInAccount, "fresh", inForce), invitee(signInAccount, "old", ranOut)
	foreign, given := invitee(elsewhere, "theirs", inForce), invitee(elsewhere, "given", ranOut)
	s := newSignIn(t, current, old, foreign, given)

	if r := s.comes(t, current); r.Status != 200 {
		t.Errorf("on the last day: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "past it", s.comes(t, old), 401, "AUTH_002")
	harness.WantMessage(t, "user.invite of a member whose invitation ran out", s.asked(t, old.Email))
	wantUserRefusal(t, "user.invite does not start it anew", s.comes(t, old), 401, "AUTH_002")
	again := "/api/v1/accounts/" + signInAccount + "/users/" + old.ExternalID + "/invitation"
	harness.WantMessage(t, "user.resend_invitation", harness.Call(t, "POST", s.URL+again, s.admin, ""))
	if r := s.comes(t, old); r.Status != 200 {
		t.Errorf("after user.resend_invitation: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "user.resend_invitation of one who signed in", harness.Call(t, "POST", s.URL+again, s.admin, ""), 409, "USER_002")

	wantUserRefusal(t, "user.invite, invited elsewhere", s.asked(t, foreign.Email), 409, "USER_002")
	wantUserRefusal(t, "invited elsewhere, too long ago", s.comes(t, given), 401, "AUTH_002")
	harness.WantMessage(t, "user.invite, invited elsewhere too long ago", s.asked(t, given.Email))
	if account := harness.At(s.record(t, "external_id="+given.ExternalID), "account_id"); account != signInAccount {
		t.Errorf("a member of %v", account)
	}
	if r := s.comes(t, given); r.Status != 200 {
		t.Errorf("with the invitation of another account: %d %s", r.Status, r.Raw)
	}
	s.Drained(t)
	for user, want := range map[string]int{current.Email: 0, old.Email: 1, foreign.Email: 0, given.Email: 1} {
		if mails := mailsTo(t, s.Gateway, user); mails != want {
			t.Errorf("%d mails to %s, want %d", mails, user, want)
		}
	}
}

// TestAccountsFirstAdminMayBeAnOldInvitee guarantees that the new account invites a user with an
// expired invitation elsewhere, and nothing is left in the old account. A user with a live one is a
// conflict, and no account is made.
func TestAccountsFirstAdminMayBeAnOldInvitee(t *testing.T) {
	t.Parallel()
	const made = "acct-made-v1"
	foreign, given := invitee(signInAccount, "theirs", inForce), invitee(signInAccount, "given", ranOut)
	s := newSignIn(t, foreign, given)
	role := s.URL + "/api/v1/accounts/" + signInAccount + harness.AssignmentPath("team_member", given.ExternalID, "")
	if r := harness.Call(t, "PUT", role, s.admin, `{}`); r.Status != 200 {
		t.Fatalf("role_assignment.put: %d %s", r.Status, r.Raw)
	}
	platform := s.staff.sign(t, "service-ops", "scope", "platform:admin")
	create := func(email string) harness.Reply {
		return harness.Call(t, "POST", s.URL+"/api/v1/accounts", platform, fmt.Sprintf(`{"id":%q,"name":"Made","admin":{"email":%q}}`, made, email))
	}
	harness.WantRefusal(t, create(foreign.Email), 409, "CONFLICT")
	harness.WantRefusal(t, harness.Call(t, "GET", s.URL+"/api/v1/accounts/"+made, platform, ""), 404, "NOT_FOUND")
	r := create(given.Email)
	if r.Status != 201 || harness.At(r.Body, "admin", "id") != given.ExternalID || harness.At(r.Body, "admin", "status") != "INVITED" {
		t.Fatalf("account.create: %d %s", r.Status, r.Raw)
	}
	s.Drained(t)
	if mails := mailsTo(t, s.Gateway, given.Email); mails != 1 {
		t.Errorf("%d mails", mails)
	}
	wantUserRefusal(t, "where they were", s.comes(t, given), 403, "AUTH_003") // signed in, and not of that account
	token := s.people.sign(t, "idp|"+given.ExternalID)
	if r := harness.Call(t, "GET", s.URL+"/api/v1/accounts/"+made+"/users", token, ""); r.Status != 200 {
		t.Errorf("as the admin: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "DELETE", role, s.admin, ""); r.Status != 404 {
		t.Errorf("the role where they were: %d %s", r.Status, r.Raw)
	}
}

// TestInvitationTimeIsASetting: --invitation-ttl.
func TestInvitationTimeIsASetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	early, late := invitee(elsewhere, "early", 50*time.Minute), invitee(elsewhere, "late", 70*time.Minute)
	harness.SeedUsers(t, dir, early, late)
	s := harness.NewScene(t, harness.StartIn(t, dir, "--invitation-ttl", "1h"))
	wantUserRefusal(t, "within the hour", s.Invite(t, early.Email), 409, "USER_002")
	harness.WantMessage(t, "after the hour", s.Invite(t, late.Email))
}

// TestInviteeMadeActiveByTheAdmin guarantees that a token with the external id is theirs from then
// on. The provider's subject is theirs after the service that syncs users has written it, not by
// the ended invitation.
func TestInviteeMadeActiveByTheAdmin(t *testing.T) {
	t.Parallel()
	u := invitee(signInAccount, "early", time.Hour)
	s := newSignIn(t, u)
	put := func(token, body string) harness.Reply {
		return harness.Call(t, "PUT", s.URL+"/api/v1/users/"+u.ExternalID, token, body, "x-account-id", signInAccount)
	}
	wantUserRefusal(t, "before", harness.Call(t, "GET", s.profile(u), s.staff.sign(t, u.ExternalID), ""), 401, "AUTH_002")
	harness.WantMessage(t, "user.update", put(s.admin, `{"status":"ACTIVE"}`))
	if r := harness.Call(t, "GET", s.profile(u), s.staff.sign(t, u.ExternalID), ""); r.Status != 200 {
		t.Errorf("by the external id: %d %s", r.Status, r.Raw)
	}
	wantUserRefusal(t, "a first sign-in", s.comes(t, u), 401, "AUTH_002")
	harness.WantMessage(t, "user.update by the service", put(s.staff.sign(t, "service-sync", "scope", "users:sync"), fmt.Sprintf(`{"authentication_partner_id":"idp|%s"}`, u.ExternalID)))
	if r := s.comes(t, u); r.Status != 200 {
		t.Errorf("by the subject: %d %s", r.Status, r.Raw)
	}
}
