package records_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestConcernedAreCountedOnce guarantees the count of a role's assignees, themselves or through groups, of the members
// of groups, and of all members. It leaves out the excepted one and those of other accounts.
func TestConcernedAreCountedOnce(t *testing.T) {
	w := newWorld(t)
	const role, carol, elsewhere = "role-a-v1", "user-carol-v1", "acct-b-v1"
	w.write(func(ctx context.Context, tx store.Tx) error {
		stranger := resources.User{ExternalID: "user-x-v1", UUID: "uuid-x", Email: "x@example.com", AccountID: elsewhere}
		if err := w.c.Users.Insert(ctx, tx, stranger); err != nil {
			return err
		}
		for _, a := range []resources.Assignment{
			{AccountID: account, RoleID: role, AssigneeType: resources.AssigneeUser, AssigneeID: alice},
			{AccountID: account, RoleID: role, AssigneeType: resources.AssigneeUser, AssigneeID: alice, ProjectID: "proj-a-v1", Status: "INACTIVE"},
			{AccountID: account, RoleID: role, AssigneeType: resources.AssigneeGroup, AssigneeID: otherGroup},
			{AccountID: elsewhere, RoleID: role, AssigneeType: resources.AssigneeUser, AssigneeID: "user-x-v1"},
		} {
			a.ID = records.AssignmentID(a)
			if err := w.c.Assignments.Insert(ctx, tx, a); err != nil {
				return err
			}
		}
		for _, user := range []string{alice, bob, carol} {
			m := resources.GroupMember{ID: records.MemberID(otherGroup, user), AccountID: account, GroupID: otherGroup, UserID: user}
			if err := w.c.Members.Insert(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	for name, c := range map[string]struct {
		concern records.Concern
		want    int
	}{
		"nobody":                    {records.Concern{}, 0},
		"a role":                    {records.Concern{RoleIDs: []string{role}}, 3},
		"a role, but one":           {records.Concern{RoleIDs: []string{role, role}, Except: bob}, 2},
		"a group":                   {records.Concern{Groups: []string{otherGroup}, Except: alice}, 2},
		"a role and its group":      {records.Concern{RoleIDs: []string{role}, Groups: []string{otherGroup, admins}}, 3},
		"all members":               {records.Concern{AllMembers: true}, 2},
		"all members, but one":      {records.Concern{AllMembers: true, Except: bob}, 1},
		"all members, and a guest":  {records.Concern{AllMembers: true, Except: "user-x-v1"}, 2},
		"all members, and a nobody": {records.Concern{AllMembers: true, Except: "user-none-v1"}, 2},
	} {
		c.concern.AccountID = account
		err := w.db.View(t.Context(), func(tx store.Tx) error {
			got, err := w.c.Concerned(t.Context(), tx, c.concern)
			if got != c.want {
				t.Errorf("%s: %d, want %d", name, got, c.want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
