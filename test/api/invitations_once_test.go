package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestTwoInvitationsAtOnceMakeOneUser: with one mail, in 20 rounds, whether one account
// invites a new address twice or two accounts do.
func TestTwoInvitationsAtOnceMakeOneUser(t *testing.T) {
	t.Parallel()
	first, second := harness.NewTeam(t), harness.NewTeam(t)
	sync := first.ServiceToken(t, "users:sync")
	for round := range 20 {
		email := fmt.Sprintf("twin%d@%s.example", round, first.Account)
		other := first
		if round%2 == 1 {
			other = second
		}
		a, b := atOnce(func() harness.Reply { return first.Invite(t, email) }, func() harness.Reply { return other.Invite(t, strings.ToUpper(email)) })
		statuses := a.Status + b.Status
		if want := map[bool]int{true: 200 + 200, false: 200 + 409}[other == first]; statuses != want {
			t.Fatalf("round %d: %d %s and %d %s", round, a.Status, a.Raw, b.Status, b.Raw)
		}
		r := harness.Call(t, "GET", first.URL+"/api/v1/users?email="+email, sync, "")
		if users, _ := r.Body["users"].([]any); len(users) != 1 || harness.At(users, 0, "status") != "INVITED" {
			t.Fatalf("round %d: user.find: %s", round, r.Raw)
		}
	}
	first.Drained(t)
	for round := range 20 {
		email := fmt.Sprintf("twin%d@%s.example", round, first.Account)
		mails := mailsTo(t, first.Gateway, email) + mailsTo(t, first.Gateway, strings.ToUpper(email))
		if mails != 1 {
			t.Errorf("round %d: %d mails, want one", round, mails)
		}
	}
	for _, s := range []*harness.Team{first, second} {
		for _, user := range harness.Texts(s.Must(t, 200, "GET", "/users", "").Body["users"], "id") {
			roles := harness.Texts(s.Must(t, 200, "GET", "/roles/users/"+user, "").Body["data"], "roleId")
			if invited := user != s.Admin && user != s.Bob && user != s.Carol && user != s.Dan; invited && strings.Join(roles, " ") != "team_member" {
				t.Errorf("%s has the roles %v", user, roles)
			}
		}
	}
}

// atOnce makes two requests at the same time.
func atOnce(a, b func() harness.Reply) (first, second harness.Reply) {
	var wait sync.WaitGroup
	begin := make(chan struct{})
	wait.Go(func() { <-begin; first = a() })
	wait.Go(func() { <-begin; second = b() })
	close(begin)
	wait.Wait()
	return first, second
}

// TestAccountsFirstAdminIsInvited: without an external id, by mail.
func TestAccountsFirstAdminIsInvited(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	const email = "first@admin-invited.example"
	r := harness.Call(t, "POST", g.URL+"/api/v1/accounts", g.ServiceToken(t, "platform:admin"), `{"name":"A","admin":{"email":"`+email+`"}}`)
	if r.Status != 201 || harness.At(r.Body, "admin", "status") != "INVITED" {
		t.Fatalf("account.create: %d %s", r.Status, r.Raw)
	}
	harness.Soon(t, "the mail is written", func() bool { return mailsTo(t, g, email) == 1 })
	g.Drained(t)
	if mails := mailsTo(t, g, email); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}
