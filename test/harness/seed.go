package harness

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// Member is a user to be put into a data folder, with roles at account level.
type Member struct {
	ID    string
	Roles []string
}

// Seed makes an account with a project and members in a data folder that no gateway
// holds yet.
func Seed(t testing.TB, dataDir, account, project string, members ...Member) {
	t.Helper()
	c := records.NewCollections()
	seed(t, openStoreOf(t, dataDir, c), c, account, project, members)
}

// SeedEmbedded is Seed for a test of the embedded store, on any store of the other tests' gateways.
func SeedEmbedded(t testing.TB, dataDir, account, project string, members ...Member) {
	t.Helper()
	c := records.NewCollections()
	seed(t, openEmbedded(t, dataDir, c), c, account, project, members)
}

func seed(t testing.TB, s store.Store, c records.Collections, account, project string, members []Member) {
	t.Helper()
	ctx := context.Background()
	now := resources.At(time.Now())
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	must.Do(t, s.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
		if err := c.Accounts.Insert(ctx, tx, resources.Account{
			ID: account, Name: account, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
		}); err != nil {
			return err
		}
		if err := c.Projects.Insert(ctx, tx, resources.Project{
			ID: project, AccountID: account, Name: project, State: resources.ProjectActive, CreatedAt: now, UpdatedAt: now,
		}); err != nil {
			return err
		}
		for _, m := range members {
			if err := seedMember(ctx, tx, c, ids, account, m, now); err != nil {
				return err
			}
		}
		return nil
	}))
	must.Do(t, s.Close())
}

func seedMember(
	ctx context.Context, tx store.Tx, c records.Collections, ids resources.IDs, account string, m Member, now resources.Time,
) error {
	err := c.Users.Insert(ctx, tx, resources.User{
		ExternalID: m.ID, UUID: ids.UUID(), AccountID: account, Email: m.ID + "@seed.example", Name: m.ID,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	for _, role := range m.Roles {
		a := resources.Assignment{
			AccountID: account, RoleID: role, RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser,
			AssigneeID: m.ID, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
		}
		a.ID = records.AssignmentID(a)
		if err := c.Assignments.Insert(ctx, tx, a); err != nil {
			return err
		}
	}
	return nil
}
