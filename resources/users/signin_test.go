package users_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/test/must"
)

const iris = "user-iris-v1"

func (w *usersWorld) signIn(subject, email string) bool {
	w.T.Helper()
	return must.Get(w.users.SignIn(w.T.Context(), subject, email))(w.T)
}

func TestFirstSignInMakesTheInviteeActive(t *testing.T) {
	w := newWorld(t)
	w.AddUser(acctA, iris, resources.StatusInvited)
	w.pass(ttl) // to the last moment
	rev, none := w.Revision(acctA), w.Revision("")
	if !w.signIn("auth0|iris", "USER-iris-V1@example.com") {
		t.Fatal("refused")
	}
	u := w.get(iris)
	if u.Status != resources.StatusActive || !u.IsVerified || u.AuthenticationPartner != "OIDC" || u.AuthenticationPartnerID != "auth0|iris" ||
		u.UpdatedAt != areatest.Start+ttl || u.AccountID != acctA || u.Email != iris+"@example.com" {
		t.Errorf("%+v", u)
	}
	if w.Revision(acctA) != rev+1 || w.Revision("") != none+1 {
		t.Error("not both revisions moved")
	}
	if !w.signIn("auth0|iris", iris+"@example.com") { // a second request that came with the first
		t.Error("the same subject is refused")
	}
	if w.signIn("auth0|other", iris+"@example.com") || w.get(iris).AuthenticationPartnerID != "auth0|iris" {
		t.Error("a second subject claims the invitation")
	}
}

func TestFirstSignInIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		subject, email string
		change         func(w *usersWorld)
	}{
		"unknown address":    {"sub", "nobody@example.com", nil},
		"a service":          {"service-x", iris + "@example.com", nil},
		"no subject":         {"", iris + "@example.com", nil},
		"subject's form":     {"a\nb", iris + "@example.com", nil},
		"a blank subject":    {" ", iris + "@example.com", nil},
		"a padded subject":   {"sub ", iris + "@example.com", nil},
		"nothing to be seen": {"\u200b", iris + "@example.com", nil},
		"subject too long":   {strings.Repeat("a", 256), iris + "@example.com", nil},
		"no address":         {"sub", "", nil},
		"folds beyond ASCII": {"sub", "user-ir\u0131s-v1@example.com", nil},
		"another's id":       {bob, iris + "@example.com", nil},
		"another's UUID":     {"uuid-" + bob, iris + "@example.com", nil},
		"another's subject": {"auth0|bob", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(bob, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|bob" })
		}},
		"the invitee's own id": {iris, iris + "@example.com", nil},
		"too late":             {"sub", iris + "@example.com", func(w *usersWorld) { w.pass(ttl + 1) }},
		"never mailed": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(iris, func(u *resources.User) { u.InvitedAt = 0 })
		}},
		"linked already": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(iris, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|iris" })
		}},
		"not invited": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(iris, func(u *resources.User) { u.Status = resources.StatusActive })
		}},
		"suspended": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(iris, func(u *resources.User) { u.Status = resources.StatusSuspended })
		}},
		"suspended with this subject": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.ChangeUser(iris, func(u *resources.User) { u.Status, u.AuthenticationPartnerID = "SUSPENDED", "sub" })
		}},
		"removed": {"sub", iris + "@example.com", func(w *usersWorld) {
			w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, iris, nil), 200)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.AddUser(acctA, iris, resources.StatusInvited)
			if c.change != nil {
				c.change(w)
			}
			before, rev, none := w.get(iris), w.Revision(acctA), w.Revision("")
			if w.signIn(c.subject, c.email) {
				t.Error("accepted")
			}
			if after := w.get(iris); after.Status != before.Status || after.AuthenticationPartnerID != before.AuthenticationPartnerID || after.IsVerified {
				t.Errorf("%+v", after)
			}
			if w.Revision(acctA) != rev || w.Revision("") != none {
				t.Error("a stranger's token moves a revision")
			}
		})
	}
}

func TestFirstSignInThatCannotBeAskedIsAnError(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if done, err := w.users.SignIn(ctx, "sub", iris+"@example.com"); done || !resources.IsKind(err, resources.KindUnavailable) {
		t.Error(done, err)
	}
}

// TestTwoSubjectsAtOnceClaimOneInvitation: one wins. One subject, twice at once, does.
// And one subject that claims two invitations gets one. 100 rounds.
func TestTwoSubjectsAtOnceClaimOneInvitation(t *testing.T) {
	w := newWorld(t)
	for round := range 100 {
		ids := [2]string{fmt.Sprintf("user-a%d-v1", round), fmt.Sprintf("user-b%d-v1", round)}
		w.AddUser(acctA, ids[0], resources.StatusInvited)
		w.AddUser(acctB, ids[1], resources.StatusInvited)
		subjects, invitee, want := [2]string{fmt.Sprint("one", round), fmt.Sprint("two", round)}, [2]string{ids[0], ids[0]}, 1
		switch round % 3 {
		case 1:
			subjects[1], want = subjects[0], 2
		case 2:
			subjects[1], invitee[1] = subjects[0], ids[1]
		}
		try := func(i int) func() areatest.Answer {
			return func() areatest.Answer {
				done, err := w.users.SignIn(context.Background(), subjects[i], invitee[i]+"@example.com")
				if err != nil {
					panic(err)
				}
				return areatest.Answer{Status: map[bool]int{true: 1}[done]}
			}
		}
		got := areatest.AtOnce(try(0), try(1))
		if got[0].Status+got[1].Status != want {
			t.Fatalf("round %d: %d and %d, want %d in all", round, got[0].Status, got[1].Status, want)
		}
		a, b := w.get(ids[0]), w.get(ids[1])
		winner := 0
		if got[0].Status == 0 {
			winner = 1
		}
		if u := w.get(invitee[winner]); u.AuthenticationPartnerID != subjects[winner] || u.Status != resources.StatusActive {
			t.Fatalf("round %d: %+v", round, u)
		}
		if a.Status == resources.StatusActive && b.Status == resources.StatusActive {
			t.Fatalf("round %d: both are active", round)
		}
	}
}
