package users_test

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
)

func TestReinvitationSendsTheMailAgainOnceAMinute(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctA, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	w.Clock.Add(int64(minute - 1))
	got := w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, id, nil)
	w.Expect(got, 429, "RATE_001")
	if got.Err.RetryAfter != time.Millisecond {
		t.Error(got.Err.RetryAfter)
	}
	w.Clock.Add(int64(1))
	rev := w.Revision(acctA)
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, id, nil), 200, `{"message":"`)
	if u := w.get(id); u.InvitedAt != areatest.Start+minute || u.MemberSince != areatest.Start || w.Revision(acctA) != rev+1 {
		t.Errorf("%+v", u)
	}
	if mails := w.mails(); len(mails) != 2 || mails[1].To != "ivy@example.com" || mails[1].AccountName != "Name of acct-a-v1" {
		t.Errorf("%v", mails)
	}
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, id, nil), 429)
	w.pass(-30 * minute) // the clock of another replica, or one that was set back
	if got := w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, id, nil); got.Status != 429 || got.Err.RetryAfter != time.Minute {
		t.Errorf("%+v", got.Err)
	}
}

func TestReinvitationStartsTheTimeAnew(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.invite(acctA, "ivy@example.com"), 200)
	id := w.byEmail("ivy@example.com").ExternalID
	w.Clock.Add(int64(ttl + 1))
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, "uuid-none", nil), 404)
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, w.get(id).UUID, nil), 200)
	w.Clock.Add(int64(ttl))
	w.Expect(w.invite(acctB, "ivy@example.com"), 409)
	if done, err := w.users.SignIn(t.Context(), "sub", "ivy@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}

func TestReinvitationIsForInvitedMembersOnly(t *testing.T) {
	w := newWorld(t)
	w.AddUser(acctB, "user-iris-v1", resources.StatusInvited)
	w.Clock.Add(int64(day))
	for _, status := range []string{"INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING", "ACTIVE"} {
		w.ChangeUser(bob, func(u *resources.User) { u.Status = status })
		w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, bob, nil), 409, "USER_002", status)
	}
	want := w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, absent, nil)
	w.Expect(want, 404, "USER_001")
	for _, id := range []string{"user-iris-v1", "uuid-user-iris-v1", nora} {
		if got := w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, id, nil); got.Text != want.Text {
			t.Errorf("%s: %s", id, got.Text)
		}
	}
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, bob), acctA, bob, nil), 403, "account:user:invite")
	w.Expect(w.call("user.resend_invitation", areatest.As(acctA, alice), acctA, bob, areatest.Object{"email": "x@example.com"}), 400, "email: unknown field")
	if len(w.mails()) != 0 || w.get("user-iris-v1").InvitedAt != areatest.Start {
		t.Errorf("%v", w.mails())
	}
}

func TestReinvitationWithAnIdempotencyKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	w.AddUser(acctA, "user-iris-v1", resources.StatusInvited)
	w.Clock.Add(int64(day))
	r := ask(areatest.As(acctA, alice), acctA, "user-iris-v1", nil)
	r.IdempotencyKey = "k"
	for range 3 {
		w.Expect(w.Ask("user.resend_invitation", r), 200)
	}
	if len(w.mails()) != 1 {
		t.Errorf("%v", w.mails())
	}
}

// TestSendInvitationInvitesAStoredUser: what another area calls after it made one.
func TestSendInvitationInvitesAStoredUser(t *testing.T) {
	w := newWorld(t)
	w.AddUser(acctA, "user-iris-v1", resources.StatusInvited)
	w.Clock.Add(int64(100 * day))
	w.Write(func(ctx context.Context, tx store.Tx) error {
		return w.users.SendInvitation(ctx, tx, resources.Account{ID: acctA, Name: "A"}, resources.User{ExternalID: "user-iris-v1"})
	})
	if mails := w.mails(); len(mails) != 1 || mails[0].To != "user-iris-v1@example.com" || mails[0].AccountName != "A" {
		t.Errorf("%v", mails)
	}
	if done, err := w.users.SignIn(t.Context(), "sub", "user-iris-v1@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}
