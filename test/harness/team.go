package harness

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// Team is a scene with three members beside the admin, who hold no role yet.
type Team struct {
	*Scene
	Bob, Carol, Dan string
}

// TeamName is the name of the n-th team.
func TeamName(n int) string { return fmt.Sprintf("team%d", n) }

// TeamMember is the id of a member of the n-th team.
func TeamMember(n int, name string) string { return "user-" + TeamName(n) + name + "-v1" }

// SeedUsers writes users into a data folder that no gateway holds.
func SeedUsers(t testing.TB, dir string, users ...resources.User) {
	t.Helper()
	c := records.NewCollections()
	SeedRecords(t, dir, c, func(ctx context.Context, tx store.Tx) error {
		for _, u := range users {
			if _, err := tx.Bump(ctx, u.AccountID); err != nil {
				return err
			}
			if err := c.Users.Insert(ctx, tx, u); err != nil {
				return err
			}
		}
		return nil
	})
}

// SeedRecords makes a change in a data folder that no gateway holds.
func SeedRecords(t testing.TB, dir string, c records.Collections, change func(ctx context.Context, tx store.Tx) error) {
	t.Helper()
	ctx, db := context.Background(), openStoreOf(t, dir, c)
	err := db.Transact(ctx, func(tx store.Tx) error { return change(ctx, tx) })
	must.Do(t, errors.Join(err, db.Close()))
}

// MemberRecord is an active user's record.
func MemberRecord(account, id string) resources.User {
	now := resources.At(time.Now())
	return resources.User{
		ExternalID: id, UUID: UUIDOf(id), AccountID: account, Email: id + "@team.example", Name: id, IsVerified: true,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	}
}

// UUIDOf is the UUID of a user who was seeded.
func UUIDOf(id string) string {
	h := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%x-%x-4%03x-8%03x-%x", h[:4], h[4:6], int(h[6])<<4|int(h[7])>>4, int(h[8])<<4|int(h[9])>>4, h[10:16])
}

// seedTeams makes the members of the teams first to last, before their accounts are there.
func seedTeams(t testing.TB, dir string, first, last int) {
	t.Helper()
	var users []resources.User
	for n := first; n <= last; n++ {
		for _, name := range []string{"bob", "carol", "dan"} {
			users = append(users, MemberRecord("acct-"+TeamName(n)+"-v1", TeamMember(n, name)))
		}
	}
	SeedUsers(t, dir, users...)
}

// TeamIn makes the account of members who were seeded.
func TeamIn(t testing.TB, g *Gateway, n int) *Team {
	t.Helper()
	return &Team{
		Scene: newSceneNamed(t, g, TeamName(n)),
		Bob:   TeamMember(n, "bob"), Carol: TeamMember(n, "carol"), Dan: TeamMember(n, "dan"),
	}
}

// StartTeam is a team in a gateway of its own.
func StartTeam(t testing.TB, args ...string) *Team {
	t.Helper()
	return StartTeams(t, 1, args...)[0]
}

// StartTeams are so many teams in a gateway of their own.
func StartTeams(t testing.TB, n int, args ...string) []*Team {
	t.Helper()
	dir := t.TempDir()
	seedTeams(t, dir, 1, n)
	g := StartIn(t, dir, args...)
	var teams []*Team
	for i := range n {
		teams = append(teams, TeamIn(t, g, i+1))
	}
	return teams
}

// Do is a request below the account by the admin.
func (s *Scene) Do(t testing.TB, method, rest, body string) Reply {
	t.Helper()
	return Call(t, method, s.Path(rest), s.AdminToken, body)
}

// Must is Do that has to have this status.
func (s *Scene) Must(t testing.TB, status int, method, rest, body string) Reply {
	t.Helper()
	r := s.Do(t, method, rest, body)
	if r.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", method, rest, r.Status, r.Raw, status)
	}
	return r
}

// Grant gives the role by role_assignment.put, at account level or (project not "") in a project.
func (s *Scene) Grant(t testing.TB, role, user, project string) {
	t.Helper()
	s.Must(t, 200, "PUT", AssignmentPath(role, user, project), `{}`)
}

// AssignmentPath is that of role_assignment.put and role_assignment.revoke.
func AssignmentPath(role, assignee, project string) string {
	path := "/roles/" + role + "/assignments/" + assignee
	if project != "" {
		path += "?projectId=" + project
	}
	return path
}
