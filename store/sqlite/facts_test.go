package sqlite_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestFactsHoldEveryFieldThatTheyTake of records in which no field is empty.
func TestFactsHoldEveryFieldThatTheyTake(t *testing.T) {
	c := records.NewCollections()
	s := open(t, t.TempDir(), c.Schemas()...)
	user := resources.User{
		ExternalID: "user", UUID: "uuid", AccountID: "acct", Email: "e", Name: "n", ProfilePicURL: "p", IsVerified: true,
		Metadata: []byte(`{"id":"other","status":"other"}`), Status: "ACTIVE", AuthenticationType: "t", AuthenticationPartner: "ap",
		AuthenticationPartnerID: "partner", InvitedAt: 1, MemberSince: 2, CreatedAt: 3, UpdatedAt: 4,
	}
	held := resources.Assignment{
		ID: "a", AccountID: "acct", RoleID: "role", RoleScope: "scope", AssigneeType: resources.AssigneeUser, AssigneeID: "user",
		ProjectID: "proj", ResourceID: "res", Status: "INACTIVE", ExpiresAt: 5, CreatedAt: 6, UpdatedAt: 7,
	}
	want := []resources.HeldRole{{
		RoleID: "role", RoleScope: "scope", RoleStatus: resources.StatusActive, ProjectID: "proj", ResourceID: "res", Status: "INACTIVE",
		ExpiresAt: 5, CreatedAt: 6, UpdatedAt: 7,
	}}
	want = append(want, want[0])
	want[1].GroupID = "group"
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		if err := c.Users.Insert(t.Context(), tx, user); err != nil {
			return err
		}
		if err := c.Members.Insert(t.Context(), tx, resources.GroupMember{ID: "m", AccountID: "acct", GroupID: "group", UserID: "user", AddedAt: 8}); err != nil {
			return err
		}
		if err := c.Assignments.Insert(t.Context(), tx, held); err != nil {
			return err
		}
		held.AssigneeType, held.AssigneeID = resources.AssigneeGroup, "group"
		return c.Assignments.Insert(t.Context(), tx, held)
	}))
	got := factsOf(t.Context(), t, s, c).Subject
	if !got.UserExists || !got.Member || got.UserUUID != "uuid" || got.UserStatus != "ACTIVE" || got.PartnerID != "partner" || got.HomeID != "acct" {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(got.Assignments, want) {
		t.Errorf("%+v, want %+v", got.Assignments, want)
	}
}

func factsOf(ctx context.Context, t *testing.T, s store.Store, c records.Collections) (facts resources.Facts) {
	t.Helper()
	must.Do(t, s.View(ctx, func(tx store.Tx) (err error) {
		facts, err = c.LoadFacts(ctx, tx, "acct", "user", "")
		return err
	}))
	return facts
}
