package api_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// searchWorld is an account with random contents for everything a search reads.
type searchWorld struct {
	*harness.Gateway
	rnd                            *rand.Rand
	now                            resources.Time
	account, other, checker, admin string
	users, groups, projects, roles []string
	collections                    records.Collections
	// stored are the resources of each type that were not deleted.
	stored map[string][]thing
}

// thing is a resource as a request names it.
type thing struct {
	Type       string            `json:"type"`
	ID         string            `json:"id,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// put adds a resource of the account to those that are stored.
func (w *searchWorld) put(kind, id, project string) {
	e := thing{Type: kind, ID: id, Properties: map[string]string{"account_id": w.account}}
	if project != "" {
		e.Properties["project_id"] = project
	}
	w.stored[kind] = append(w.stored[kind], e)
}

// drawWorld seeds a data folder with a world, and starts a gateway on it.
func drawWorld(t *testing.T, seed uint64) *searchWorld {
	w := &searchWorld{
		rnd: rand.New(rand.NewPCG(seed, 17)), now: resources.At(time.Now()), account: "acct-drawn-v1", other: "acct-other-v1",
		admin: "user-admin-v1", stored: map[string][]thing{}, collections: records.NewCollections(),
		roles: []string{"account_admin", "account_reader", "team_member", "project_admin", "project_reader", "custom-a", "custom-p", "custom-r", "custom-off"},
	}
	dir := t.TempDir()
	harness.SeedRecords(t, dir, w.collections, func(ctx context.Context, tx store.Tx) error {
		_, bumped := tx.Bump(ctx, w.account)
		return errors.Join(bumped, w.seedTenants(ctx, tx), w.seedGroups(ctx, tx), w.seedRoles(ctx, tx), w.seedAssignments(ctx, tx), w.seedResources(ctx, tx))
	})
	w.Gateway = harness.StartIn(t, dir)
	w.checker = w.ServiceToken(t, "authz:check")
	return w
}

// pick draws one of the values.
func pick[T any](w *searchWorld, choices ...T) T { return choices[w.rnd.IntN(len(choices))] }

func (w *searchWorld) seedTenants(ctx context.Context, tx store.Tx) (err error) {
	for _, id := range []string{w.account, w.other} {
		err = errors.Join(err, w.collections.Accounts.Insert(ctx, tx, resources.Account{
			ID: id, Name: id, Status: resources.StatusActive, CreatedAt: w.now, UpdatedAt: w.now,
		}))
	}
	for i, state := range []string{resources.ProjectActive, resources.ProjectActive, resources.ProjectActive, resources.ProjectDeleting, resources.ProjectDeleted} {
		id := fmt.Sprintf("proj-%d-v1", i)
		w.projects = append(w.projects, id)
		if state != resources.ProjectDeleted {
			w.put("project", id, id)
		}
		err = errors.Join(err, w.collections.Projects.Insert(ctx, tx, resources.Project{
			ID: id, AccountID: w.account, Name: id, State: state, CreatedAt: w.now, UpdatedAt: w.now,
		}))
	}
	err = errors.Join(err, w.collections.Users.Insert(ctx, tx, harness.MemberRecord(w.account, w.admin)))
	for i := range 24 {
		u := harness.MemberRecord(pick(w, w.account, w.account, w.account, w.account, w.other), fmt.Sprintf("user-%02d-v1", i))
		u.Status = pick(w, resources.StatusActive, resources.StatusActive, resources.StatusActive, resources.StatusInactive)
		w.users = append(w.users, u.ExternalID)
		err = errors.Join(err, w.collections.Users.Insert(ctx, tx, u))
	}
	return err
}

func (w *searchWorld) seedGroups(ctx context.Context, tx store.Tx) (err error) {
	for i := range 4 {
		g := resources.Group{ID: fmt.Sprintf("group-%d-v1", i), AccountID: w.account, Name: fmt.Sprint("Group ", i), CreatedAt: w.now, UpdatedAt: w.now}
		w.groups = append(w.groups, g.ID)
		err = errors.Join(err, w.collections.Groups.Insert(ctx, tx, g))
		for _, user := range w.users {
			if w.rnd.IntN(4) == 0 {
				err = errors.Join(err, w.collections.Members.Insert(ctx, tx, resources.GroupMember{
					ID: records.MemberID(g.ID, user), AccountID: w.account, GroupID: g.ID, UserID: user, AddedAt: w.now - resources.Time(w.rnd.IntN(5)),
				}))
			}
		}
	}
	return err
}

func (w *searchWorld) seedRoles(ctx context.Context, tx store.Tx) (err error) {
	for _, r := range []resources.Role{
		{ID: "custom-a", Scope: resources.RoleScopeAccount, Status: resources.StatusActive, Permissions: []string{"*:instance:read", "account:user:*"}},
		{ID: "custom-p", Scope: resources.RoleScopeProject, Status: resources.StatusActive, Permissions: []string{"project:instance:*"}},
		{ID: "custom-r", Scope: resources.RoleScopeResource, Status: resources.StatusActive, Permissions: []string{"project:*:read", "resource:*:*"}},
		{ID: "custom-off", Scope: resources.RoleScopeAccount, Status: resources.StatusInactive, Permissions: []string{"*:*:*"}},
	} {
		r.AccountID, r.Name, r.IsCustom, r.CreatedAt, r.UpdatedAt = w.account, r.ID, true, w.now, w.now
		err = errors.Join(err, w.collections.Roles.Insert(ctx, tx, r))
	}
	return err
}

// seedAssignments draws assignments, sound ones and others. The admin's own is sound.
func (w *searchWorld) seedAssignments(ctx context.Context, tx store.Tx) (err error) {
	put := func(a resources.Assignment) {
		a.AccountID, a.ID, a.CreatedAt, a.UpdatedAt = w.account, "", w.now-resources.Time(w.rnd.IntN(5)), w.now
		a.ID = records.AssignmentID(a)
		if e := w.collections.Assignments.Insert(ctx, tx, a); !store.IsDuplicate(e, "") {
			err = errors.Join(err, e)
		}
	}
	put(resources.Assignment{
		RoleID: "account_admin", RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser, AssigneeID: w.admin, Status: resources.StatusActive,
	})
	for range 70 {
		a := resources.Assignment{
			RoleID: pick(w, w.roles...), AssigneeType: resources.AssigneeUser, AssigneeID: pick(w, w.users...),
			Status: pick(w, resources.StatusActive, resources.StatusActive, resources.StatusActive, resources.StatusInactive),
		}
		if w.rnd.IntN(3) == 0 {
			a.AssigneeType, a.AssigneeID = resources.AssigneeGroup, pick(w, w.groups...)
		}
		switch a.RoleID {
		case "project_admin", "project_reader", "custom-p":
			a.RoleScope, a.ProjectID = resources.RoleScopeProject, pick(w, w.projects...)
		case "custom-r":
			a.RoleScope, a.ProjectID, a.ResourceID = resources.RoleScopeResource, pick(w, w.projects...), pick(w, "security-groups/sg-0-v1", "security-groups/sg-1-v1", "instances/i-1")
		default:
			a.RoleScope = resources.RoleScopeAccount
		}
		a.ExpiresAt = pick(w, 0, 0, 0, w.now-1, w.now+3_600_000)
		put(a)
	}
	return err
}

func (w *searchWorld) seedResources(ctx context.Context, tx store.Tx) (err error) {
	w.put("account", w.account, "")
	for i := range 12 {
		id, project := fmt.Sprintf("sg-%d-v1", i), pick(w, w.projects...)
		w.put("security_group", id, project)
		err = errors.Join(err, w.collections.SecurityGroups.Insert(ctx, tx, resources.SecurityGroup{
			ID: id, AccountID: w.account, ProjectID: project, Name: id,
			Status: resources.SecurityGroupActive, Rules: []resources.SecurityGroupRule{}, CreatedAt: w.now, UpdatedAt: w.now,
		}))
	}
	for i := range 8 {
		id, project, deleted := fmt.Sprintf("cl-%d-v1", i), pick(w, w.projects...), w.rnd.IntN(3) == 0
		k := resources.KubernetesBase{ID: id, Name: id, AccountID: w.account, ProjectID: project, Status: "CLUSTER_STATUS_RUNNING", CreatedAt: w.now}
		g := resources.GPUCluster{ID: id, Name: id, AccountID: w.account, ProjectID: project, Status: "running", CreatedAt: w.now}
		if deleted {
			k.Status, g.Status = resources.ClusterDeleted.Kubernetes(), resources.ClusterDeleted.GPU()
		} else {
			w.put("kubernetes_cluster", id, project)
			w.put("gpu_cluster", id, project)
		}
		err = errors.Join(err, w.collections.KubernetesClusters.Insert(ctx, tx, resources.KubernetesRecord{Cluster: resources.KubernetesCluster{Base: k}}),
			w.collections.GPUClusters.Insert(ctx, tx, resources.GPURecord{Cluster: g}))
	}
	return err
}
