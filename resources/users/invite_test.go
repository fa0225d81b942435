package users_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/store"
)

// invite asks for an invitation to an account by its admin.
func (w *usersWorld) invite(account, email string) areatest.Answer {
	w.T.Helper()
	return w.call("user.invite", areatest.As(account, map[string]string{acctA: alice, acctB: bea}[account]), account, "", areatest.Object{"email": email})
}

const ttl = 14 * day

func TestInvitationMakesAnInvitedTeamMemberAndAMail(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(minute))
	rev, none := w.Revision(acctA), w.Revision("")
	w.Expect(w.invite(acctA, "Ivy@Example.com"), 200, `{"message":"The invitation is sent."}`)
	u := w.byEmail("ivy@example.com")
	now := areatest.Start + minute
	if u.Email != "Ivy@Example.com" || u.Status != resources.StatusInvited || u.AccountID != acctA || u.InvitedAt != now || u.MemberSince != now ||
		u.CreatedAt != now || u.UpdatedAt != now || u.AuthenticationType != "unknown" || u.IsVerified || u.UUID == "" || !resources.ValidID(u.ExternalID) {
		t.Errorf("%+v", u)
	}
	if roles := w.roles(acctA, u.ExternalID); len(roles) != 1 || roles[0] != "team_member" {
		t.Errorf("roles %v", roles)
	}
	mails := w.mails()
	if len(mails) != 1 || mails[0].To != "Ivy@Example.com" || mails[0].AccountID != acctA || mails[0].AccountName != "Name of acct-a-v1" ||
		mails[0].UserID != u.ExternalID || mails[0].Kind != resources.MessageInvitation || mails[0].CreatedAt != now {
		t.Errorf("%+v", mails)
	}
	if w.Revision(acctA) != rev+1 || w.Revision("") != none+1 {
		t.Error("not both revisions moved")
	}
}

func TestInvitationOfAMemberChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctA, "ivy@example.com"), 200)
	before := w.byEmail("ivy@example.com")
	w.ChangeUser(bob, func(u *resources.User) { u.Status = resources.StatusSuspended })
	for _, email := range []string{"ivy@example.com", "IVY@EXAMPLE.COM", bob + "@example.com", alice + "@example.com"} {
		w.pass(ttl + 1) // even when the invitation has run out: user.resend_invitation starts it anew
		rev := w.Revision(acctA)
		w.Expect(w.invite(acctA, email), 200, "a member of the account already")
		if w.Revision(acctA) != rev+1 {
			t.Error("the answer is no outcome of a commit")
		}
	}
	if after := w.byEmail("ivy@example.com"); after.InvitedAt != before.InvitedAt || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("%+v", after)
	}
	if len(w.mails()) != 1 || len(w.roles(acctA, before.ExternalID)) != 1 || len(w.roles(acctA, alice)) != 1 {
		t.Errorf("mails %v", w.mails())
	}
}

func TestInvitationOfAUserOfNoAccountSendsNoMail(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(minute))
	w.Expect(w.invite(acctA, "USER-nora-v1@example.com"), 200, "a member of the account now")
	u := w.get(nora)
	if u.AccountID != acctA || u.MemberSince != areatest.Start+minute || u.UpdatedAt != areatest.Start+minute || u.Status != resources.StatusActive ||
		u.Email != nora+"@example.com" || u.InvitedAt != 0 {
		t.Errorf("%+v", u)
	}
	if roles := w.roles(acctA, nora); len(roles) != 1 || roles[0] != "team_member" || len(w.mails()) != 0 {
		t.Errorf("roles %v, mails %v", roles, w.mails())
	}
}

func TestInvitationOfAMemberOfAnotherAccountIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctB, "ivy@example.com"), 200)
	w.pass(ttl) // to the last moment
	for _, email := range []string{"ivy@example.com", bea + "@example.com"} {
		before := w.byEmail(email)
		w.Expect(w.invite(acctA, email), 409, "USER_002")
		if after := w.byEmail(email); after.AccountID != acctB || after.UpdatedAt != before.UpdatedAt || len(w.roles(acctA, after.ExternalID)) != 0 {
			t.Errorf("%+v", after)
		}
	}
	w.Clock.Add(int64(100 * day))
	w.ChangeUser(bea, func(u *resources.User) { u.Status = resources.StatusSuspended })
	w.Expect(w.invite(acctA, bea+"@example.com"), 409, "USER_002")
	if len(w.mails()) != 1 {
		t.Errorf("%v", w.mails())
	}
}

func TestOldInvitationBindsNobody(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctB, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	w.assign(acctB, id, resources.RoleAccountAdmin)
	w.join(acctB, "group-b-v1", id)
	w.Clock.Add(int64(ttl + 1))
	now := areatest.Start + ttl + 1
	revA, revB := w.Revision(acctA), w.Revision(acctB)
	w.Expect(w.invite(acctA, "ivy@example.com"), 200, "The invitation is sent.")
	u := w.get(id)
	if u.AccountID != acctA || u.Status != resources.StatusInvited || u.InvitedAt != now || u.MemberSince != now {
		t.Errorf("%+v", u)
	}
	if home, existing := w.roles(acctA, id), w.roles(acctB, id); len(home) != 1 || home[0] != "team_member" || len(existing) != 0 {
		t.Errorf("roles %v, before %v", home, existing)
	}
	if w.Revision(acctA) != revA+1 || w.Revision(acctB) != revB+1 {
		t.Error("not both accounts' revisions moved")
	}
	if mails := w.mails(); len(mails) != 2 || mails[1].AccountID != acctA || mails[1].UserID != id {
		t.Errorf("%v", mails)
	}
	w.Expect(w.invite(acctB, "ivy@example.com"), 409)
}

// TestAnInvitationEndsAtOneMoment guarantees that a user's move to another account bumps the revision of the old one.
// The old invitation may expire during the call.
func TestAnInvitationEndsAtOneMoment(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctB, "ivy@example.com"), 200)
	w.Clock.Add(int64(ttl - 3))
	w.users.Now = func() time.Time { return time.UnixMilli(w.Clock.Add(1)) } // time passes between two looks at the clock
	for range 5 {
		account, rev := w.byEmail("ivy@example.com").AccountID, w.Revision(acctB)
		w.invite(acctA, "ivy@example.com")
		if moves := w.byEmail("ivy@example.com").AccountID != account; moves != (w.Revision(acctB) == rev+1) {
			t.Errorf("the user moves: %t, and the revision %d became %d", moves, rev, w.Revision(acctB))
		}
	}
	if u := w.byEmail("ivy@example.com"); u.AccountID != acctA {
		t.Errorf("%+v", u)
	}
}

// TestReleaseEndsWhatBindsNobody guarantees that a member with an expired invitation has nothing
// left in the account, in the store and in the value. Others stay as they are.
func TestReleaseEndsWhatBindsNobody(t *testing.T) {
	w := newWorld(t)
	w.AddUser(acctA, iris, resources.StatusInvited)
	w.assign(acctA, iris, "team_member")
	w.join(acctA, "group-a-v1", iris)
	release := func(id string) (u resources.User, free bool) {
		w.Write(func(ctx context.Context, tx store.Tx) error {
			rec, err := w.Collections.Users.Get(ctx, tx, id)
			if err == nil {
				free, err = w.users.Release(ctx, tx, &rec.Value)
			}
			u = rec.Value
			return err
		})
		return u, free
	}
	w.Clock.Add(int64(ttl))
	for _, id := range []string{iris, bob} {
		if u, free := release(id); free || u.AccountID != acctA || len(w.roles(acctA, id)) == 0 {
			t.Errorf("%s is let go: %+v", id, u)
		}
	}
	w.Clock.Add(int64(1))
	if u, free := release(iris); !free || u.AccountID != "" || u.MemberSince != 0 || len(w.roles(acctA, iris)) != 0 {
		t.Errorf("%s stays: %v %+v", iris, free, u)
	}
	if u, free := release(nora); !free || u.AccountID != "" {
		t.Errorf("a user of no account: %v %+v", free, u)
	}
}

// TestRemovedInviteeIsInvitedAnew guarantees a new mail for a user who never signed in. An account
// that removes and invites in turn sends one in a minute at most.
func TestRemovedInviteeIsInvitedAnew(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctA, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	for range 5 {
		w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, id, nil), 200)
		w.Expect(w.invite(acctA, "ivy@example.com"), 200)
	}
	if u := w.get(id); len(w.mails()) != 1 || u.AccountID != acctA || u.Status != resources.StatusInvited || u.InvitedAt != areatest.Start {
		t.Errorf("%+v, mails %v", u, w.mails())
	}
	w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, id, nil), 200)
	w.Clock.Add(int64(minute))
	w.Expect(w.invite(acctB, "ivy@example.com"), 200, "The invitation is sent.")
	if u := w.get(id); len(w.mails()) != 2 || u.AccountID != acctB || u.InvitedAt != areatest.Start+minute {
		t.Errorf("%+v, mails %v", u, w.mails())
	}
}

// TestAStatusEndsWithTheInvitation guarantees that an account can't spoil an address for others. An invitee's status from
// an account ends with the membership, unless the invitee has signed in. The next account's invitation sends a mail, and
// the invitee can accept it.
func TestAStatusEndsWithTheInvitation(t *testing.T) {
	for _, status := range resources.UserStatuses() {
		t.Run(status, func(t *testing.T) {
			w := newWorld(t)
			w.Expect(w.invite(acctB, "ivy@example.com"), 200)
			ivy := w.byEmail("ivy@example.com").ExternalID
			w.Expect(w.call("user.update", areatest.As(acctB, bea), acctB, ivy, areatest.Object{"status": status}), 200)
			w.Expect(w.call("user.remove", areatest.As(acctB, bea), acctB, ivy, nil), 200)
			w.pass(minute)
			w.Expect(w.invite(acctA, "ivy@example.com"), 200, "The invitation is sent.")
			if !w.signIn("idp|ivy", "ivy@example.com") {
				t.Error("the invitation can't be accepted")
			}
			w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, ivy, areatest.Object{"status": status}), 200)
			w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, ivy, nil), 200)
			if u := w.get(ivy); u.Status != status {
				t.Errorf("the status of somebody who has signed in is %s now", u.Status)
			}
		})
	}
}

func TestInvitationNeedsTheRight(t *testing.T) {
	w := newWorld(t)
	body := areatest.Object{"email": "ivy@example.com"}
	w.Expect(w.call("user.invite", areatest.As(acctA, bob), acctA, "", body), 403, "no active role of the user grants account:user:invite")
	w.Expect(w.call("user.invite", areatest.As(acctB, bea), acctA, "", body), 403)
	w.Expect(w.call("user.invite", areatest.Service(resources.ServiceScopeAdmin), acctA, "", body), 403)
	w.Expect(w.call("user.invite", syncer(), absent, "", body), 404)
	w.SetAccount(acctA, resources.StatusSuspended)
	w.Expect(w.call("user.invite", areatest.As(acctA, alice), acctA, "", body), 403, "suspended")
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, bob, nil), 403, "suspended")
	if len(w.mails()) != 0 {
		t.Errorf("%v", w.mails())
	}
}

func TestInvitationTakesOneAddress(t *testing.T) {
	w := newWorld(t)
	for _, email := range []any{
		nil, "", "x", "a@b", "a@example.com, b@example.com", "a@example.com\r\nBcc: b@example.com", "A <a@example.com>", "a(comment)@example.com",
		`"a b"@example.com`, "\u212Aim@example.com", "a@ex\u00e4mple.com", "a@example.com ",
		[]string{"a@example.com"},
		areatest.Object{"$ne": ""},
		1,
	} {
		w.Expect(w.call("user.invite", areatest.As(acctA, alice), acctA, "", areatest.Object{"email": email}), 400, "REQ_001", "email: ")
	}
	w.Expect(w.call("user.invite", areatest.As(acctA, alice), acctA, "", areatest.Object{"email": "x", "role": "account_admin"}), 400, "email: ", "role: unknown field")
	if len(w.mails()) != 0 {
		t.Errorf("%v", w.mails())
	}
}

func TestInvitationWithAnIdempotencyKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	r := ask(areatest.As(acctA, alice), acctA, "", areatest.Object{"email": "ivy@example.com"})
	r.IdempotencyKey = "k"
	for range 3 {
		w.Expect(w.Ask("user.invite", r), 200, "The invitation is sent.")
	}
	if len(w.mails()) != 1 {
		t.Errorf("%v", w.mails())
	}
}

// TestTwoInvitationsAtOnceMakeOneUserAndOneMail: of one account, or of two, where the
// second one is a conflict. 100 rounds.
func TestTwoInvitationsAtOnceMakeOneUserAndOneMail(t *testing.T) {
	w := newWorld(t)
	for round := range 100 {
		email, other, want := fmt.Sprintf("new%d@example.com", round), acctA, 200+200
		if round%2 == 1 {
			other, want = acctB, 200+409
		}
		asks := func(account, caller, email string) func() areatest.Answer {
			return func() areatest.Answer {
				return w.Ask("user.invite", ask(areatest.As(account, caller), account, "", areatest.Object{"email": email}))
			}
		}
		got := areatest.AtOnce(
			asks(acctA, alice, email),
			asks(other, map[string]string{acctA: alice, acctB: bea}[other], "NEW"+email[3:]),
		)
		if got[0].Status+got[1].Status != want {
			t.Fatalf("round %d: %s, %s", round, got[0].Text, got[1].Text)
		}
		u := w.byEmail(email)
		if mails := w.mails(); len(mails) != round+1 {
			t.Fatalf("round %d: %d mails", round, len(mails))
		}
		if n := len(w.roles(acctA, u.ExternalID)) + len(w.roles(acctB, u.ExternalID)); n != 1 {
			t.Fatalf("round %d: %d roles", round, n)
		}
	}
}

func TestInvitationsTimeIsConfigured(t *testing.T) {
	if users.DefaultInvitationTTL != 14*24*time.Hour {
		t.Error(users.DefaultInvitationTTL)
	}
	w := newWorld(t)
	w.users.InvitationTTL = time.Hour
	w.Expect(w.invite(acctB, "ivy@example.com"), 200)
	w.Clock.Add(int64(60 * minute))
	w.Expect(w.invite(acctA, "ivy@example.com"), 409)
	w.Clock.Add(int64(1))
	w.Expect(w.invite(acctA, "ivy@example.com"), 200)
}
