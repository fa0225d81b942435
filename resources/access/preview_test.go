package access_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// previewed makes the changes in memory.
func previewed(t *testing.T, w *accessWorld, changes ...object) (resources.Supposed, error) {
	t.Helper()
	return previewService(t, w).Suppose(t.Context(), acctA, areatest.Body(object{"changes": changes}))
}

func previewService(t *testing.T, w *accessWorld) *access.Service {
	t.Helper()
	return access.New(access.Config{Store: w.Store, Collections: w.Collections, SystemRoles: areatest.Policy(t).Roles, Now: w.Clock.Now})
}

// TestPreviewMakesChangesInTheirOrder guarantees that each change sees the ones before it. The store is not changed.
func TestPreviewMakesChangesInTheirOrder(t *testing.T) {
	w := newWorld(t)
	revision := w.Revision(acctA)
	assign := object{"kind": "assign", "role": "project_admin", "group_id": groupA, "project_id": projA1}
	out, err := previewed(t, w,
		object{"kind": "group_add", "group_id": groupA, "user_id": dan}, assign,
		object{"kind": "role_put", "name": "new", "scope": "RESOURCE", "permissions": []string{"project:x:read"}},
		object{"kind": "assign", "role": "new", "user_id": dan, "project_id": projA2, "resource_id": "x/1", "until": (areatest.Start + hour).String()},
		object{"kind": "group_remove", "group_id": groupA, "user_id": carol},
		object{"kind": "user_status", "user_id": ivan, "status": "ACTIVE"},
	)
	if err != nil {
		t.Fatal(err)
	}
	var people []string
	for _, p := range out.People {
		people = append(people, p.Before.UserID)
	}
	if !slices.Equal(people, []string{dan, ivan}) || out.Revision != revision || w.Revision(acctA) != revision || !out.Complete {
		t.Fatalf("%v at %d; the store is at %d, and was at %d", people, out.Revision, w.Revision(acctA), revision)
	}
	after := out.People[0].After.Assignments
	if len(out.People[0].Before.Assignments) != 0 || len(after) != 2 || after[0].GroupID != groupA || after[0].RoleID != "project_admin" || after[0].ProjectID != projA1 ||
		!after[1].Custom || after[1].ExpiresAt != areatest.Start+hour || after[1].ResourceID != "x/1" || after[1].Permissions[0] != "project:x:read" {
		t.Errorf("%+v", after)
	}
	if place := (resources.HeldPlace{ProjectID: projA2, ResourceID: "x/1"}); !slices.Equal(out.People[0].Resources, []resources.HeldPlace{place}) {
		t.Errorf("%+v", out.People[0].Resources)
	}
	if !slices.Equal(out.Projects, []string{projA1, projA2, projLeaving}) || out.States[projLeaving] != resources.ProjectDeleting || out.States[projA1] != resources.ProjectActive {
		t.Errorf("%v %v", out.Projects, out.States)
	}
	out, err = previewed(t, w, assign, object{"kind": "group_add", "group_id": groupA, "user_id": dan})
	if err != nil || len(out.People) != 2 || len(out.People[1].After.Assignments) != 1 {
		t.Errorf("who joins a group after its assignment: %+v %v", out.People, err)
	}
	if out, err := previewed(t, w, assign, object{"kind": "revoke", "role": "project_admin", "group_id": groupA, "project_id": projA1}); err != nil || len(out.People) != 0 {
		t.Errorf("a change and its inverse: %+v %v", out.People, err)
	}
}

// TestPreviewIsBounded guarantees the facts of at most 1,000 people, those named by a change among them. An answer without
// some people is not complete.
func TestPreviewIsBounded(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		members  int
		complete bool
	}{{1000, true}, {1001, false}} {
		group := fmt.Sprintf("group-%d-v1", c.members)
		w.group(acctA, group)
		w.Write(func(ctx context.Context, tx store.Tx) error {
			for i := range c.members {
				id := fmt.Sprintf("user-%d-%04d-v1", c.members, i)
				if err := w.Collections.Users.Insert(ctx, tx, resources.User{
					ExternalID: id, UUID: "uuid-" + id, AccountID: acctA, Email: id + "@example.com", Status: resources.StatusActive,
				}); err != nil {
					return err
				}
				if err := w.Collections.Members.Insert(ctx, tx, resources.GroupMember{ID: records.MemberID(group, id), AccountID: acctA, GroupID: group, UserID: id}); err != nil {
					return err
				}
			}
			return nil
		})
		last := fmt.Sprintf("user-%d-%04d-v1", c.members, c.members-1)
		out, err := previewed(t, w, object{"kind": "assign", "role": "team_member", "group_id": group}, object{"kind": "user_status", "user_id": last, "status": "INACTIVE"})
		if err != nil || len(out.People) != 1000 || out.Complete != c.complete {
			t.Fatalf("%d members: %d people, complete %t, %v", c.members, len(out.People), out.Complete, err)
		}
		if p := out.People[999]; p.Before.UserID != last || p.After.UserStatus != "INACTIVE" || len(p.After.Assignments) != 1 {
			t.Errorf("%d members: the last is %+v", c.members, p.After)
		}
	}
}

// TestPreviewWaitsForItsGate guarantees that a preview takes no snapshot before its turn.
func TestPreviewWaitsForItsGate(t *testing.T) {
	full := gate.New(1, 0)
	must.Do(t, full.Enter(t.Context(), ""))
	s := access.New(access.Config{Collections: records.NewCollections(), Scans: full})
	if _, err := s.Suppose(t.Context(), acctA, nil); !resources.IsKind(err, resources.KindUnavailable) {
		t.Error(err)
	}
}

// TestPreviewTakesEmptyIDsAsAbsent guarantees that a preview refuses an assignment to nobody, and one of a PROJECT role
// without a project, as role_assignment.put does.
func TestPreviewTakesEmptyIDsAsAbsent(t *testing.T) {
	w := newWorld(t)
	for problem, change := range map[string]object{
		"changes[0].user_id":    {"kind": "assign", "role": "team_member", "user_id": ""},
		"changes[0].project_id": {"kind": "assign", "role": "project_admin", "user_id": dan, "project_id": ""},
	} {
		_, err := previewed(t, w, change)
		if !resources.IsKind(err, resources.KindBadRequest) || resources.AsError(err).Problems[0].Field != problem {
			t.Errorf("%v: %v", change, err)
		}
	}
	out, err := previewed(t, w, object{"kind": "assign", "role": "team_member", "user_id": dan, "group_id": "", "project_id": ""})
	if err != nil || len(out.People) != 1 {
		t.Errorf("an account role with empty ids beside the user's: %+v %v", out.People, err)
	}
}
