package users_test

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

func TestReinvitationSendsTheMailAgainOnceAMinute(t *testing.T) {
	w := newWorld(t)
	w.expect(w.invite(acctA, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	w.pass(minute - 1)
	got := w.call("user.resend_invitation", as(acctA, alice), acctA, id, nil)
	w.expect(got, 429, "RATE_001")
	if got.err.RetryAfter != time.Millisecond {
		t.Error(got.err.RetryAfter)
	}
	w.pass(1)
	rev := w.revision(acctA)
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, id, nil), 200, `{"message":"`)
	if u := w.get(id); u.InvitedAt != start+minute || u.MemberSince != start || w.revision(acctA) != rev+1 {
		t.Errorf("%+v", u)
	}
	if mails := w.mails(); len(mails) != 2 || mails[1].To != "ivy@example.com" || mails[1].AccountName != "Name of acct-a-v1" {
		t.Errorf("%v", mails)
	}
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, id, nil), 429)
	w.pass(-30 * minute) // the clock of another replica, or one that was set back
	if got := w.call("user.resend_invitation", as(acctA, alice), acctA, id, nil); got.status != 429 || got.err.RetryAfter != time.Minute {
		t.Errorf("%+v", got.err)
	}
}

func TestReinvitationStartsTheTimeAnew(t *testing.T) {
	w := newWorld(t)
	w.expect(w.invite(acctA, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	w.pass(ttl + 1)
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, "uuid-none", nil), 404)
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, w.get(id).UUID, nil), 200)
	w.pass(ttl)
	w.expect(w.invite(acctB, "ivy@example.com"), 409)
	if done, err := w.users.SignIn(t.Context(), "sub", "ivy@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}

func TestReinvitationIsForInvitedMembersOnly(t *testing.T) {
	w := newWorld(t)
	w.user("user-iris-v1", acctB, resources.StatusInvited)
	w.pass(day)
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, bob, nil), 409, "USER_002", "ACTIVE")
	want := w.call("user.resend_invitation", as(acctA, alice), acctA, absent, nil)
	w.expect(want, 404, "USER_001")
	for _, id := range []string{"user-iris-v1", "uuid-user-iris-v1", nora} {
		if got := w.call("user.resend_invitation", as(acctA, alice), acctA, id, nil); got.text != want.text {
			t.Errorf("%s: %s", id, got.text)
		}
	}
	w.expect(w.call("user.resend_invitation", as(acctA, bob), acctA, bob, nil), 403, "account:user:invite")
	w.expect(w.call("user.resend_invitation", as(acctA, alice), acctA, bob, object{"email": "x@example.com"}), 400, "email: unknown field")
	if len(w.mails()) != 0 || w.get("user-iris-v1").InvitedAt != start {
		t.Errorf("%v", w.mails())
	}
}

func TestReinvitationWithAnIdempotencyKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	w.user("user-iris-v1", acctA, resources.StatusInvited)
	w.pass(day)
	r := ask(as(acctA, alice), acctA, "user-iris-v1", nil)
	r.IdempotencyKey = "k"
	for range 3 {
		w.expect(w.send("user.resend_invitation", r), 200)
	}
	if len(w.mails()) != 1 {
		t.Errorf("%v", w.mails())
	}
}

// TestSendInvitationInvitesAStoredUser: what another area calls after it made one.
func TestSendInvitationInvitesAStoredUser(t *testing.T) {
	w := newWorld(t)
	w.user("user-iris-v1", acctA, resources.StatusInvited)
	w.pass(100 * day)
	w.write(func(ctx context.Context, tx store.Tx) error {
		return w.users.SendInvitation(ctx, tx, resources.Account{ID: acctA, Name: "A"}, resources.User{ExternalID: "user-iris-v1"})
	})
	if mails := w.mails(); len(mails) != 1 || mails[0].To != "user-iris-v1@example.com" || mails[0].AccountName != "A" {
		t.Errorf("%v", mails)
	}
	if done, err := w.users.SignIn(t.Context(), "sub", "user-iris-v1@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}
