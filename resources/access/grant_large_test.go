package access_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	largeGroup    = "group-large-v1"
	largeRoles    = 12
	largeProjects = 200
	largePlaces   = 2 * largeProjects // half of the roles end
	rolePatterns  = 198
)

// judging is the engine, and keeps what it is asked about grants.
type judging struct {
	engine.Inside
	grants []resources.Question
	// asked is called before each answer; nil is not called.
	asked func()
}

func (j *judging) Grantable(ctx context.Context, g resources.Question) (resources.Decision, error) {
	j.grants = append(j.grants, g)
	if j.asked != nil {
		j.asked()
	}
	return j.Inside.Grantable(ctx, g)
}

// counting is a store that counts its transactions' single reads, by collection.
type counting struct {
	store.Store
	reads map[string]int
}

func (c counting) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.Transact(ctx, func(tx store.Tx) error {
		clear(c.reads)
		return fn(countingTx{tx, c.reads})
	})
}

type countingTx struct {
	store.Tx
	reads map[string]int
}

// Together counts as one.
func (t countingTx) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	t.reads["together"]++
	return t.Tx.Together(ctx, account, reads...)
}

// Delete counts as a read: both are a round trip, on some engines.
func (t countingTx) Delete(ctx context.Context, schema *store.Schema, key string, revision int64) error {
	t.reads[schema.Name]++
	return t.Tx.Delete(ctx, schema, key, revision)
}

func (t countingTx) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	t.reads[schema.Name]++
	return t.Tx.Get(ctx, schema, key)
}

// largeWorld has a group with 2,400 grants: twelve roles in each of two hundred projects; every other one ends. Bob is
// in it, and holds all of it at account level, too.
func largeWorld(t *testing.T) (*accessWorld, *judging, map[string]int) {
	t.Helper()
	judge, reads := &judging{Inside: areatest.Policy(t).Inside()}, map[string]int{}
	w := newWorld(t, func(cfg *access.Config) {
		cfg.Judge, cfg.Store = judge, counting{cfg.Store, reads}
	})
	w.role(resources.Role{
		ID: "role-wide-v1", Name: "wide", Scope: resources.RoleScopeAccount, AccountID: acctA,
		Permissions: []string{"account:group:update", "account:role:create", "project:*:read"},
	})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: "role-wide-v1"})
	for r := range largeRoles {
		w.role(resources.Role{
			ID: fmt.Sprintf("role-large%d-v1", r), Name: fmt.Sprintf("large%d", r), Scope: resources.RoleScopeProject, AccountID: acctA,
			Permissions: []string{"project:shared:read", fmt.Sprintf("project:thing%d:read", r)},
		})
	}
	w.group(acctA, largeGroup, bob)
	w.Write(func(ctx context.Context, tx store.Tx) error {
		for p := range largeProjects {
			project := resources.Project{ID: fmt.Sprintf("proj-large%d-v1", p), AccountID: acctA, State: resources.ProjectActive}
			project.Name = project.ID
			if err := w.Collections.Projects.Insert(ctx, tx, project); err != nil {
				return err
			}
			for r := range largeRoles {
				a := resources.Assignment{
					AccountID: acctA, AssigneeID: largeGroup, AssigneeType: resources.AssigneeGroup, ProjectID: project.ID,
					RoleID: fmt.Sprintf("role-large%d-v1", r), RoleScope: resources.RoleScopeProject, Status: resources.StatusActive,
					ExpiresAt: resources.Time(r%2) * (areatest.Start + hour),
				}
				a.ID = records.AssignmentID(a)
				if err := w.Collections.Assignments.Insert(ctx, tx, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return w, judge, reads
}

// TestLargeGroupIsSharedByOneQuestionAPlace: the work grows with what the group holds, not
// with that times what its caller does.
func TestLargeGroupIsSharedByOneQuestionAPlace(t *testing.T) {
	w, judge, reads := largeWorld(t)
	w.Expect(w.add(areatest.As(acctA, bob), largeGroup, dan), 200)
	if len(judge.grants) != largePlaces {
		t.Errorf("%d questions", len(judge.grants))
	}
	for _, g := range judge.grants {
		if len(g.Grant.Permissions) != largeRoles/2+1 || g.Facts.Subject != judge.grants[0].Facts.Subject {
			t.Fatalf("%d patterns in %s, facts of the caller read again: %t",
				len(g.Grant.Permissions), g.Target.ProjectID, g.Facts.Subject != judge.grants[0].Facts.Subject)
		}
	}
	w.wantFewTrips(reads)
	w.Expect(w.add(areatest.As(acctA, carol), largeGroup, dan), 403)
}

// wantFewTrips fails where the last change has read or deleted records one by one.
func (w *accessWorld) wantFewTrips(trips map[string]int) {
	w.T.Helper()
	if trips["roles"]+trips["projects"]+trips["group_members"]+trips["role_assignments"]+trips["users"] > 8 || trips["together"] > 12 {
		w.T.Errorf("round trips: %v", trips)
	}
}

// TestALargeGroupIsDeletedInFewSteps guarantees that neither its members nor its assignments are deleted one by one, nor
// the account's admins read so.
func TestALargeGroupIsDeletedInFewSteps(t *testing.T) {
	w, _, trips := largeWorld(t)
	w.Write(func(ctx context.Context, tx store.Tx) (err error) {
		for i := 0; i < 300 && err == nil; i++ {
			user := resources.User{ExternalID: fmt.Sprintf("user-l%d-v1", i), AccountID: acctA, Status: resources.StatusActive}
			user.UUID, user.Email = user.ExternalID, user.ExternalID+"@a.example"
			m := resources.GroupMember{ID: records.MemberID(largeGroup, user.ExternalID), AccountID: acctA, GroupID: largeGroup, UserID: user.ExternalID}
			if err = w.Collections.Users.Insert(ctx, tx, user); err == nil {
				err = w.Collections.Members.Insert(ctx, tx, m)
			}
		}
		return err
	})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: largeGroup, AssigneeType: resources.AssigneeGroup, RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount})
	clear(trips)
	w.Expect(w.call("group.delete", areatest.As(acctA, alice), pathOf(acctA, "groupId", largeGroup), "", nil), 200)
	w.wantFewTrips(trips)
	if w.isMember(largeGroup, "user-l7-v1") {
		t.Error("a membership is left")
	}
}

// TestLargeGrantEndsWithItsRequest: 503, and nothing is changed.
func TestLargeGrantEndsWithItsRequest(t *testing.T) {
	w, judge, _ := largeWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	judge.asked = func() {
		if len(judge.grants) == largePlaces {
			cancel()
		}
	}
	w.Ctx = ctx
	w.Expect(w.add(areatest.As(acctA, bob), largeGroup, dan), 503)
	w.Ctx = t.Context()
	if w.isMember(largeGroup, dan) {
		t.Error("the user is in the group")
	}
}

// TestLargeRoleIsMadeByNoAdmin: its patterns are one question.
func TestLargeRoleIsMadeByNoAdmin(t *testing.T) {
	w, judge, _ := largeWorld(t)
	var patterns []string
	for i := range rolePatterns {
		patterns = append(patterns, fmt.Sprintf("project:thing%d:read", i))
	}
	body := object{"name": "n", "scope": "PROJECT", "permissions": patterns}
	w.Expect(w.call("role.create", areatest.As(acctA, bob), pathOf(acctA), "", body), 201)
	if len(judge.grants) != 1 {
		t.Errorf("%d questions", len(judge.grants))
	}
	body["name"], body["permissions"] = "more", slices.Concat(patterns, []string{"project:thing0:update"})
	w.Expect(w.call("role.create", areatest.As(acctA, bob), pathOf(acctA), "", body), 403, "the caller does not hold project:thing0:update")
}

// TestManyPatternsAtOnePlaceAreAskedInPieces: of the size of one role, and none is left out.
func TestManyPatternsAtOnePlaceAreAskedInPieces(t *testing.T) {
	w, judge, _ := largeWorld(t)
	w.group(acctA, "group-deep-v1")
	for r := range 3 {
		var patterns []string
		for i := range rolePatterns {
			patterns = append(patterns, fmt.Sprintf("project:deep%d:read", r*rolePatterns+i))
		}
		id := fmt.Sprintf("role-deep%d-v1", r)
		w.role(resources.Role{ID: id, Name: id, Scope: resources.RoleScopeAccount, AccountID: acctA, Permissions: patterns})
		w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: "group-deep-v1", AssigneeType: resources.AssigneeGroup, RoleID: id})
	}
	w.Expect(w.add(areatest.As(acctA, bob), "group-deep-v1", dan), 200)
	asked := map[string]bool{}
	for _, g := range judge.grants {
		for _, pattern := range g.Grant.Permissions {
			asked[pattern] = true
		}
		if len(g.Grant.Permissions) > 200 {
			t.Errorf("%d patterns at once", len(g.Grant.Permissions))
		}
	}
	if len(asked) != 3*rolePatterns {
		t.Errorf("%d patterns asked", len(asked))
	}
	// One that sorts last, and so stands in the last piece.
	w.role(resources.Role{ID: "role-last-v1", Name: "last", Scope: resources.RoleScopeAccount, AccountID: acctA, Permissions: []string{"project:zzz:update"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: "group-deep-v1", AssigneeType: resources.AssigneeGroup, RoleID: "role-last-v1"})
	w.Expect(w.add(areatest.As(acctA, bob), "group-deep-v1", carol), 403, "project:zzz:update")
}

// TestRoleThatIsGoneIsSharedByNobody: not even beside others at the same place.
func TestRoleThatIsGoneIsSharedByNobody(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "account_reader"})
	w.Expect(w.add(areatest.As(acctA, alice), groupA, dan), 200)
	w.Assign(resources.Assignment{
		AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "role-gone-v1", RoleScope: resources.RoleScopeAccount,
	})
	w.Expect(w.add(areatest.As(acctA, alice), groupA, bob), 403, "nothing to grant")
}
