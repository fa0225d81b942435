package sqlite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// benchUsers is how many users the account of a benchmark has.
const benchUsers = 2000

// BenchmarkFacts reads the facts of a decision about a user: one with a role in a project, and one with a custom role
// more, through a group.
func BenchmarkFacts(b *testing.B) {
	ctx, c := context.Background(), records.NewCollections()
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: b.TempDir(), Schemas: c.Schemas()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Transact(ctx, func(tx store.Tx) error { return benchAccount(ctx, tx, c) }); err != nil {
		b.Fatal(err)
	}
	for name, held := range map[string]int{"alone": 1, "in a group": 2} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var facts resources.Facts
				err := s.View(ctx, func(tx store.Tx) (err error) {
					facts, err = c.LoadFacts(ctx, tx, "acct-a-v1", benchUser(2*(i%(benchUsers/2))+held-1), "proj-a-v1")
					return err
				})
				if err != nil || len(facts.Subject.Assignments) != held {
					b.Fatal(facts, err)
				}
			}
		})
	}
}

func benchUser(i int) string { return fmt.Sprintf("user-%d-v1", i) }

// benchAccount is one whose every second user is in a group.
func benchAccount(ctx context.Context, tx store.Tx, c records.Collections) error {
	if _, err := tx.Bump(ctx, "acct-a-v1"); err != nil {
		return err
	}
	hold := func(kind, assignee, role string) error {
		return c.Assignments.Insert(ctx, tx, resources.Assignment{
			ID: assignee, AccountID: "acct-a-v1", RoleID: role, RoleScope: resources.RoleScopeProject, ProjectID: "proj-a-v1",
			AssigneeType: kind, AssigneeID: assignee, Status: resources.StatusActive,
		})
	}
	err := c.Accounts.Insert(ctx, tx, resources.Account{ID: "acct-a-v1", Name: "a", Status: resources.StatusActive})
	if err == nil {
		err = c.Projects.Insert(ctx, tx, resources.Project{ID: "proj-a-v1", AccountID: "acct-a-v1", Name: "a", State: resources.ProjectActive})
	}
	if err == nil {
		err = c.Roles.Insert(ctx, tx, resources.Role{
			ID: "role-a-v1", AccountID: "acct-a-v1", Name: "a", Scope: resources.RoleScopeProject,
			Status: resources.StatusActive, Permissions: []string{"project:instance:read"},
		})
	}
	if err == nil {
		err = hold(resources.AssigneeGroup, "group-a-v1", "role-a-v1")
	}
	for i := 0; err == nil && i < benchUsers; i++ {
		err = c.Users.Insert(ctx, tx, resources.User{
			ExternalID: benchUser(i), UUID: benchUser(i), AccountID: "acct-a-v1", Email: benchUser(i) + "@a.example", Status: resources.StatusActive,
		})
		if err == nil {
			err = hold(resources.AssigneeUser, benchUser(i), "project_reader")
		}
		if err == nil && i%2 == 1 {
			err = c.Members.Insert(ctx, tx, resources.GroupMember{
				ID: records.MemberID("group-a-v1", benchUser(i)), AccountID: "acct-a-v1", GroupID: "group-a-v1", UserID: benchUser(i),
			})
		}
	}
	return err
}
