package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestTwoInvitationsAtOnceMakeOneUser: with one mail, in 20 rounds, whether one account
// invites a new address twice or two accounts do.
func TestTwoInvitationsAtOnceMakeOneUser(t *testing.T) {
	t.Parallel()
	first, second := newTeam(t), newTeam(t)
	sync := first.serviceToken(t, "users:sync")
	for round := range 20 {
		email := fmt.Sprintf("twin%d@%s.example", round, first.Account)
		other := first
		if round%2 == 1 {
			other = second
		}
		a, b := atOnce(func() reply { return first.invite(t, email) }, func() reply { return other.invite(t, strings.ToUpper(email)) })
		statuses := a.Status + b.Status
		if want := map[bool]int{true: 200 + 200, false: 200 + 409}[other == first]; statuses != want {
			t.Fatalf("round %d: %d %s and %d %s", round, a.Status, a.Raw, b.Status, b.Raw)
		}
		r := call(t, "GET", first.URL+"/api/v1/users?email="+email, sync, "")
		if users, _ := r.Body["users"].([]any); len(users) != 1 || at(users, 0, "status") != "INVITED" {
			t.Fatalf("round %d: user.find: %s", round, r.Raw)
		}
	}
	first.drained(t)
	for round := range 20 {
		email := fmt.Sprintf("twin%d@%s.example", round, first.Account)
		mails := first.mailsTo(t, email) + first.mailsTo(t, strings.ToUpper(email))
		if mails != 1 {
			t.Errorf("round %d: %d mails, want one", round, mails)
		}
	}
	for _, s := range []*team{first, second} {
		for _, user := range texts(s.must(t, 200, "GET", "/users", "").Body["users"], "id") {
			roles := texts(s.must(t, 200, "GET", "/roles/users/"+user, "").Body["data"], "roleId")
			if invited := user != s.Admin && user != s.Bob && user != s.Carol && user != s.Dan; invited && strings.Join(roles, " ") != "team_member" {
				t.Errorf("%s has the roles %v", user, roles)
			}
		}
	}
}

// atOnce makes two requests at the same time.
func atOnce(a, b func() reply) (first, second reply) {
	var wait sync.WaitGroup
	begin := make(chan struct{})
	wait.Go(func() { <-begin; first = a() })
	wait.Go(func() { <-begin; second = b() })
	close(begin)
	wait.Wait()
	return first, second
}

// TestInvitedUserOfNoAccountGetsNoMail: who can sign in already becomes a member at once.
func TestInvitedUserOfNoAccountGetsNoMail(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	email := "free@" + s.Account + ".example"
	r := call(t, "POST", s.URL+"/api/v1/users", s.serviceToken(t, "users:sync"), fmt.Sprintf(`{"email":%q}`, email))
	id, _ := at(r.Body, "user", "external_id").(string)
	if r.Status != 201 {
		t.Fatalf("user.create: %d %s", r.Status, r.Raw)
	}
	profile := s.path("/users/" + id + "/profile")
	wantUserRefusal(t, "before", call(t, "GET", profile, s.userToken(t, id), ""), 403, "AUTH_003")
	wantMessage(t, "user.invite", s.invite(t, email))
	if r := call(t, "GET", profile, s.userToken(t, id), ""); r.Status != 200 || at(r.Body, "user", "status") != "ACTIVE" {
		t.Errorf("after: %d %s", r.Status, r.Raw)
	}
	if r := call(t, "GET", s.path("/users"), s.userToken(t, id), ""); r.Status != 200 {
		t.Errorf("a team member lists users: %d %s", r.Status, r.Raw)
	}
	s.drained(t)
	if mails := s.mailsTo(t, email); mails != 0 {
		t.Errorf("%d mails", mails)
	}
}

// TestAccountsFirstAdminIsInvited: without an external id, by mail.
func TestAccountsFirstAdminIsInvited(t *testing.T) {
	t.Parallel()
	g := sharedGateway(t)
	const email = "first@admin-invited.example"
	r := call(t, "POST", g.URL+"/api/v1/accounts", g.serviceToken(t, "platform:admin"), `{"name":"A","admin":{"email":"`+email+`"}}`)
	if r.Status != 201 || at(r.Body, "admin", "status") != "INVITED" {
		t.Fatalf("account.create: %d %s", r.Status, r.Raw)
	}
	soon(t, "the mail is written", func() bool { return g.mailsTo(t, email) == 1 })
	g.drained(t)
	if mails := g.mailsTo(t, email); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}
