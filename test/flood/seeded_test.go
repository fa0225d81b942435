package flood_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	// tenantUsers are in each account, and hold project_reader in its project.
	tenantUsers = 1000
	// hardRoles are so many that an explanation about the account's user 1 meets its bounds: none of them helps with three
	// steps.
	hardRoles = 64
	// groupPlaces is in how many places the account's group has a role.
	groupPlaces = 2000
	// tenantClusters are in the account's project.
	tenantClusters = 2000
	// tenantChanges are in the list of changes.
	tenantChanges = 20_000
)

// seedTenants returns a data folder with two accounts.
func seedTenants(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	c := records.NewCollections()
	harness.SeedRecords(t, dir, c, func(ctx context.Context, tx store.Tx) error {
		for _, name := range []string{"loud", "quiet"} {
			if err := (seeding{ctx, tx, c, named(name), resources.At(time.Now())}).all(); err != nil {
				return err
			}
		}
		return nil
	})
	return dir
}

// seeding writes one account.
type seeding struct {
	ctx    context.Context
	tx     store.Tx
	c      records.Collections
	tenant tenant
	now    resources.Time
}

func (s seeding) all() error {
	if _, err := s.tx.Bump(s.ctx, s.tenant.account); err != nil {
		return err
	}
	err := s.c.Accounts.Insert(s.ctx, s.tx, resources.Account{
		ID: s.tenant.account, Name: s.tenant.name, Status: resources.StatusActive, CreatedAt: s.now, UpdatedAt: s.now,
	})
	if err == nil {
		err = s.c.Projects.Insert(s.ctx, s.tx, resources.Project{
			ID: s.tenant.project, AccountID: s.tenant.account, Name: "p", State: resources.ProjectActive, CreatedAt: s.now, UpdatedAt: s.now,
		})
	}
	for _, part := range []func() error{s.users, s.roles, s.group, s.clusters, s.changes} {
		if err == nil {
			err = part()
		}
	}
	return err
}

// users adds an admin, a user who is not active, and readers.
func (s seeding) users() error {
	for i := range tenantUsers {
		u := harness.MemberRecord(s.tenant.account, s.tenant.user(i))
		if i == 1 && s.tenant.name == "loud" {
			u.Status = "INACTIVE"
		}
		if err := s.c.Users.Insert(s.ctx, s.tx, u); err != nil {
			return err
		}
		held := resources.Assignment{RoleID: "project_reader", RoleScope: resources.RoleScopeProject, ProjectID: s.tenant.project, AssigneeType: resources.AssigneeUser, AssigneeID: u.ExternalID}
		if i == 0 {
			held.RoleID, held.RoleScope, held.ProjectID = resources.RoleAccountAdmin, resources.RoleScopeAccount, ""
		}
		if err := s.assign(held); err != nil {
			return err
		}
	}
	return nil
}

func (s seeding) assign(a resources.Assignment) error {
	a.AccountID, a.CreatedAt, a.UpdatedAt = s.tenant.account, s.now, s.now
	if a.Status == "" {
		a.Status = resources.StatusActive
	}
	a.ID = records.AssignmentID(a)
	return s.c.Assignments.Insert(s.ctx, s.tx, a)
}

// roles adds those that are hard to explain.
func (s seeding) roles() error {
	for i := range hardRoles {
		role := resources.Role{
			ID: s.tenant.role(i), Name: fmt.Sprintf("r%d", i), IsCustom: true, AccountID: s.tenant.account, Scope: resources.RoleScopeProject, Status: "INACTIVE",
			Permissions: []string{fmt.Sprintf("project:other%d:read", i)}, CreatedAt: s.now, UpdatedAt: s.now,
		}
		if err := s.c.Roles.Insert(s.ctx, s.tx, role); err != nil {
			return err
		}
		if i%2 == 0 {
			continue
		}
		if err := s.assign(resources.Assignment{
			RoleID: role.ID, RoleScope: role.Scope, ProjectID: s.tenant.project, AssigneeType: resources.AssigneeUser, AssigneeID: s.tenant.user(1), Status: "INACTIVE",
		}); err != nil {
			return err
		}
	}
	return nil
}

// group adds a group with a role on thousands of resources.
func (s seeding) group() error {
	role := resources.Role{
		ID: "role-" + s.tenant.name + "on-v1", Name: "on", IsCustom: true, AccountID: s.tenant.account, Scope: resources.RoleScopeResource, Status: resources.StatusActive,
		Permissions: []string{"project:instance:read"}, CreatedAt: s.now, UpdatedAt: s.now,
	}
	if err := s.c.Roles.Insert(s.ctx, s.tx, role); err != nil {
		return err
	}
	if err := s.c.Groups.Insert(s.ctx, s.tx, resources.Group{ID: s.tenant.group(), AccountID: s.tenant.account, Name: "g", CreatedAt: s.now, UpdatedAt: s.now}); err != nil {
		return err
	}
	for i := range groupPlaces {
		if err := s.assign(resources.Assignment{
			RoleID: role.ID, RoleScope: role.Scope, ProjectID: s.tenant.project, ResourceID: fmt.Sprintf("instances/i%d", i), AssigneeType: resources.AssigneeGroup, AssigneeID: s.tenant.group(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// clusters adds Kubernetes clusters.
func (s seeding) clusters() error {
	for i := range tenantClusters {
		if err := s.c.KubernetesClusters.Insert(s.ctx, s.tx, resources.KubernetesRecord{Cluster: resources.KubernetesCluster{
			Base: resources.KubernetesBase{
				ID: fmt.Sprintf("cluster-%s%d-v1", s.tenant.name, i), Name: fmt.Sprintf("c%d", i), Status: resources.ClusterRunning.Kubernetes(),
				AccountID: s.tenant.account, ProjectID: s.tenant.project, CreatedAt: s.now, UpdatedAt: s.now,
			},
			InstalledApps: []resources.InstalledApp{},
		}}); err != nil {
			return err
		}
	}
	return nil
}

// changes adds records of changes.
func (s seeding) changes() error {
	for i := range tenantChanges {
		if err := s.c.Changes.Insert(s.ctx, s.tx, resources.Change{
			ID: fmt.Sprintf("chg-%s%d-v1", s.tenant.name, i), AccountID: s.tenant.account, At: s.now, AccountRevision: 1, Number: int64(i), Action: "account:role:create",
			Actor: resources.ChangeActor{Kind: resources.PrincipalUser, ID: s.tenant.user(0)}, Subject: resources.ChangeSubject{Type: "role", ID: fmt.Sprintf("role-x%d-v1", i)},
		}); err != nil {
			return err
		}
	}
	return nil
}
