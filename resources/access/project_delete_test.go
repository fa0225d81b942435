package access_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// occupants are what a test has areas say; each may look at the world meanwhile.
type occupants struct {
	w   *accessWorld
	ask []func(ctx context.Context) (bool, error)
	// opened counts the areas opened again.
	opened atomic.Int64
}

// occupant is one area.
type occupant struct {
	closes func(ctx context.Context, account, project string) (bool, error)
	opened *atomic.Int64
}

func (o occupant) CloseProject(ctx context.Context, closing resources.Closing) (bool, error) {
	return o.closes(ctx, closing.AccountID, closing.ProjectID)
}

func (o occupant) OpenProject(context.Context, resources.Closing) error {
	o.opened.Add(1)
	return errors.New("gone")
}

func withOccupants(t *testing.T, n int) *occupants {
	t.Helper()
	o := &occupants{ask: make([]func(context.Context) (bool, error), n)}
	o.w = newWorld(t, func(cfg *access.Config) {
		for i := range o.ask {
			o.ask[i] = func(context.Context) (bool, error) { return false, nil }
			cfg.Occupants = append(cfg.Occupants, occupant{func(ctx context.Context, account, project string) (bool, error) {
				if account != acctA || project != projA1 {
					t.Errorf("asked about %s %s", account, project)
				}
				return o.ask[i](ctx)
			}, &o.opened})
		}
	})
	return o
}

func (o *occupants) delete() areatest.Answer {
	return o.w.call("project.delete", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", nil)
}

func (o *occupants) state() string {
	p, _ := lookUp(o.w, o.w.Collections.Projects, projA1)
	return p.State
}

func assigned(w *accessWorld, a resources.Assignment) bool {
	if a.AssigneeType == "" {
		a.AssigneeType = resources.AssigneeUser
	}
	_, ok := lookUp(w, w.Collections.Assignments, records.AssignmentID(a))
	return ok
}

// projectRoles adds a role of each project and one of none.
func projectRoles(w *accessWorld) {
	for _, r := range []resources.Role{
		{ID: "role-p1-v1", Name: "p1", AccountID: acctA, ProjectID: projA1},
		{ID: "role-p2-v1", Name: "p2", AccountID: acctA, ProjectID: projA2},
		{ID: "role-any-v1", Name: "any", AccountID: acctA},
	} {
		r.Scope, r.Permissions = resources.RoleScopeProject, []string{"project:*:read"}
		w.role(r)
	}
}

func TestProjectIsDeletedWithItsAssignmentsAndRoles(t *testing.T) {
	o := withOccupants(t, 2)
	w := o.w
	projectRoles(w)
	goes := []resources.Assignment{
		{AccountID: acctA, AssigneeID: bob, RoleID: "project_reader", ProjectID: projA1},
		{AccountID: acctA, AssigneeID: dan, RoleID: "role-any-v1", ProjectID: projA1, ResourceID: "instances/i-1"},
		{AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "project_admin", ProjectID: projA1, Status: "INACTIVE"},
		{AccountID: acctA, AssigneeID: dan, RoleID: "role-p1-v1", ProjectID: projA1},
		{AccountID: acctA, AssigneeID: dan, RoleID: "role-p1-v1", ProjectID: projA2},
	}
	stays := []resources.Assignment{
		{AccountID: acctA, AssigneeID: dan, RoleID: "role-p2-v1", ProjectID: projA2},
		{AccountID: acctA, AssigneeID: dan, RoleID: "role-any-v1", ProjectID: projA2},
		{AccountID: acctB, AssigneeID: bea, RoleID: "project_reader", ProjectID: projA1},
	}
	for _, a := range append(goes[1:], stays...) {
		w.Assign(a)
	}
	asked := 0
	o.ask[1] = func(ctx context.Context) (bool, error) {
		asked++
		if o.state() != resources.ProjectDeleting {
			t.Error("the areas are asked about a project that is not marked")
		}
		facts := resources.Facts{}
		err := w.Store.View(ctx, func(tx store.Tx) (err error) {
			facts, err = w.Collections.LoadFacts(ctx, tx, acctA, bob, projA1)
			return err
		})
		if err != nil || facts.Revision != 1 || facts.ProjectState != resources.ProjectDeleting {
			t.Errorf("the mark is not in force when the areas are asked: %+v, %v", facts, err)
		}
		return false, nil
	}
	w.Expect(o.delete(), 200, `{"success":true,"message":"`)
	if asked != 1 || w.Revision(acctA) != 2 || o.state() != resources.ProjectDeleted {
		t.Errorf("asked %d times, revision %d, state %s", asked, w.Revision(acctA), o.state())
	}
	for _, a := range goes {
		if assigned(w, a) {
			t.Errorf("still there: %+v", a)
		}
	}
	for _, a := range stays {
		if !assigned(w, a) {
			t.Errorf("gone: %+v", a)
		}
	}
	_, p1 := lookUp(w, w.Collections.Roles, "role-p1-v1")
	_, p2 := lookUp(w, w.Collections.Roles, "role-p2-v1")
	if p1 || !p2 {
		t.Errorf("the project's role is there: %v, another one: %v", p1, p2)
	}
	w.Expect(o.delete(), 404)
}

func TestOccupiedProjectIsKept(t *testing.T) {
	o := withOccupants(t, 2)
	o.ask[1] = func(context.Context) (bool, error) { return true, nil }
	o.w.Expect(o.delete(), 409, "resources in it")
	if o.state() != resources.ProjectActive || o.w.Revision(acctA) != 2 {
		t.Errorf("state %s, revision %d", o.state(), o.w.Revision(acctA))
	}
	if !assigned(o.w, resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: "project_reader", ProjectID: projA1}) {
		t.Error("an assignment is gone")
	}
	if n := o.opened.Load(); n != 2 {
		t.Errorf("%d areas were opened again, want both", n)
	}
	o.ask[1] = func(context.Context) (bool, error) { return false, nil }
	o.w.Expect(o.delete(), 200)
	if n := o.opened.Load(); n != 2 {
		t.Error("an area of a deleted project was opened")
	}
}

func TestProjectIsKeptWhenAnAreaCannotSay(t *testing.T) {
	o := withOccupants(t, 2)
	o.ask[0] = func(context.Context) (bool, error) { return false, errors.New("secret cause") }
	got := o.delete()
	o.w.Expect(got, 503)
	if o.state() != resources.ProjectActive || got.Err.RetryAfter == 0 || got.Err.Cause == nil {
		t.Errorf("state %s, error %+v", o.state(), got.Err)
	}
}

func TestMarkIsTakenBackForACallerWhoWentAway(t *testing.T) {
	o := withOccupants(t, 1)
	ctx, leave := context.WithCancel(t.Context())
	o.ask[0] = func(ctx context.Context) (bool, error) { leave(); return false, ctx.Err() }
	_, err := o.w.Routes["project.delete"](ctx, &wire.Request{
		Principal: areatest.As(acctA, alice), Params: map[string]string{"accountId": acctA, "projectId": projA1},
	})
	if !resources.IsKind(err, resources.KindUnavailable) || o.state() != resources.ProjectActive {
		t.Errorf("%v, state %s", err, o.state())
	}
}

func TestDeletionRunsOnFromAMarkLeftBehind(t *testing.T) {
	o := withOccupants(t, 1)
	change(o.w, o.w.Collections.Projects, projA1, func(p *resources.Project) { p.State = resources.ProjectDeleting })
	o.ask[0] = func(context.Context) (bool, error) { return true, nil }
	o.w.Expect(o.delete(), 409)
	if o.state() != resources.ProjectActive {
		t.Errorf("state %s", o.state())
	}
	change(o.w, o.w.Collections.Projects, projA1, func(p *resources.Project) { p.State = resources.ProjectDeleting })
	o.ask[0] = func(context.Context) (bool, error) { return false, nil }
	o.w.Expect(o.delete(), 200)
}

// TestProjectThatWasInUseMeanwhileIsKept: another request took the mark back and marked
// the project anew while this one was asking; what was made in between must not be lost.
func TestProjectThatWasInUseMeanwhileIsKept(t *testing.T) {
	for name, states := range map[string][]string{
		"taken back":                  {resources.ProjectActive},
		"taken back and marked again": {resources.ProjectActive, resources.ProjectDeleting},
	} {
		t.Run(name, func(t *testing.T) {
			o := withOccupants(t, 1)
			o.ask[0] = func(context.Context) (bool, error) {
				for _, state := range states {
					change(o.w, o.w.Collections.Projects, projA1, func(p *resources.Project) { p.State = state })
				}
				return false, nil
			}
			o.w.Expect(o.delete(), 409, "try again")
			if last := states[len(states)-1]; o.state() != last {
				t.Errorf("state %s, want %s: the other request's", o.state(), last)
			}
		})
	}
}

func TestProjectIsKeptWhenTheActorIsDemotedMeanwhile(t *testing.T) {
	o := withOccupants(t, 1)
	admin := records.AssignmentID(resources.Assignment{
		AccountID: acctA, AssigneeID: alice, AssigneeType: resources.AssigneeUser, RoleID: resources.RoleAccountAdmin,
	})
	o.ask[0] = func(context.Context) (bool, error) {
		change(o.w, o.w.Collections.Assignments, admin, func(a *resources.Assignment) { a.Status = resources.StatusInactive })
		return false, nil
	}
	o.w.Expect(o.delete(), 403)
	if o.state() != resources.ProjectActive {
		t.Errorf("state %s", o.state())
	}
	o.w.Expect(o.delete(), 403)
}

func TestMarkThatCannotBeTakenBackIsToldAndARepeatRunsOn(t *testing.T) {
	var db *failing
	var o *occupants
	w := newWorld(t, func(cfg *access.Config) {
		db = &failing{Store: cfg.Store}
		cfg.Store = db
		cfg.Occupants = []access.Occupant{occupant{func(context.Context, string, string) (bool, error) {
			db.down = true
			return true, nil
		}, new(atomic.Int64)}}
	})
	o = &occupants{w: w}
	got := o.delete()
	w.Expect(got, 503, "repeat the request")
	if o.state() != resources.ProjectDeleting {
		t.Errorf("state %s", o.state())
	}
	db.down = false
	w.Expect(o.delete(), 503)
}

// failing is a store that can't write while it is down. With lost it loses the answer of one change.
type failing struct {
	store.Store
	down, lost bool
}

func (f *failing) Transact(ctx context.Context, fn func(store.Tx) error) error {
	if f.down {
		return store.ErrUnavailable
	}
	err := f.Store.Transact(ctx, fn)
	if err == nil && f.lost {
		f.lost, err = false, store.ErrOutcomeUnknown
	}
	return err
}

// TestAMarkWithALostAnswerIsTakenBack guarantees that a project is not left denied when the answer of the store to its
// mark is lost. Nobody sees the mark, and the client need not try again.
func TestAMarkWithALostAnswerIsTakenBack(t *testing.T) {
	var db *failing
	w := newWorld(t, func(cfg *access.Config) {
		db = &failing{Store: cfg.Store, lost: true}
		cfg.Store = db
	})
	o := &occupants{w: w}
	w.Expect(o.delete(), 503)
	if o.state() != resources.ProjectActive || db.lost {
		t.Errorf("state %s", o.state())
	}
	w.Expect(o.delete(), 200)
}

func TestTwoDeletionsAtOnce(t *testing.T) {
	w := newWorld(t)
	got := atOnce(func(int) areatest.Answer {
		return w.call("project.delete", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", nil)
	})
	if got != [2]int{200, 404} && got != [2]int{404, 200} {
		t.Errorf("statuses %v", got)
	}
	if p, _ := lookUp(w, w.Collections.Projects, projA1); p.State != resources.ProjectDeleted {
		t.Errorf("state %s", p.State)
	}
}
