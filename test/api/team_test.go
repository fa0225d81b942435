package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// team is a scene with three members beside the admin, who hold no role yet.
type team struct {
	*scene
	Bob, Carol, Dan string
}

func teamName(n int) string { return fmt.Sprintf("team%d", n) }

func teamMember(n int, name string) string { return "user-" + teamName(n) + name + "-v1" }

// seedUsers writes users into a data folder that no gateway holds.
func seedUsers(t testing.TB, dir string, users ...resources.User) {
	t.Helper()
	ctx, c := context.Background(), records.NewCollections()
	db := openStoreOf(t, dir, c)
	err := db.Transact(ctx, func(tx store.Tx) error {
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
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// memberRecord is an active user's record.
func memberRecord(account, id string) resources.User {
	now := resources.At(time.Now())
	return resources.User{
		ExternalID: id, UUID: uuidOf(id), AccountID: account, Email: id + "@team.example", Name: id, IsVerified: true,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	}
}

// uuidOf is the UUID of a user who was seeded.
func uuidOf(id string) string {
	h := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%x-%x-4%03x-8%03x-%x", h[:4], h[4:6], int(h[6])<<4|int(h[7])>>4, int(h[8])<<4|int(h[9])>>4, h[10:16])
}

// seedTeams makes the members of the teams first to last, before their accounts are there.
func seedTeams(t testing.TB, dir string, first, last int) {
	t.Helper()
	var users []resources.User
	for n := first; n <= last; n++ {
		for _, name := range []string{"bob", "carol", "dan"} {
			users = append(users, memberRecord("acct-"+teamName(n)+"-v1", teamMember(n, name)))
		}
	}
	seedUsers(t, dir, users...)
}

// newTeamIn makes the account of members who were seeded.
func newTeamIn(t testing.TB, g *gatewayProcess, n int) *team {
	t.Helper()
	return &team{
		scene: newSceneNamed(t, g, teamName(n)),
		Bob:   teamMember(n, "bob"), Carol: teamMember(n, "carol"), Dan: teamMember(n, "dan"),
	}
}

// startTeam is a team in a gateway of its own.
func startTeam(t testing.TB, args ...string) *team {
	t.Helper()
	dir := t.TempDir()
	seedTeams(t, dir, 1, 1)
	return newTeamIn(t, startGatewayIn(t, dir, args...), 1)
}

// do is a request below the account by the admin.
func (s *scene) do(t testing.TB, method, rest, body string) reply {
	t.Helper()
	return call(t, method, s.path(rest), s.AdminToken, body)
}

// must is do that has to have this status.
func (s *scene) must(t testing.TB, status int, method, rest, body string) reply {
	t.Helper()
	r := s.do(t, method, rest, body)
	if r.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", method, rest, r.Status, r.Raw, status)
	}
	return r
}

// grant gives the role by role_assignment.put, at account level or (project not "") in a project.
func (s *scene) grant(t testing.TB, role, user, project string) {
	t.Helper()
	s.must(t, 200, "PUT", assignmentPath(role, user, project), `{}`)
}

// assignmentPath is that of role_assignment.put and role_assignment.revoke.
func assignmentPath(role, assignee, project string) string {
	path := "/roles/" + role + "/assignments/" + assignee
	if project != "" {
		path += "?projectId=" + project
	}
	return path
}

// at reads a value from decoded JSON: names and indexes, from the outside in.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

// fields are the names in an object, sorted.
func fields(v any) []string {
	object, _ := v.(map[string]any)
	var out []string
	for name := range object {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// wantFields holds an object to exactly these names.
func wantFields(t testing.TB, what string, v any, names ...string) {
	t.Helper()
	slices.Sort(names)
	if got := fields(v); !slices.Equal(got, names) {
		t.Errorf("%s has the fields %v, want %v", what, got, names)
	}
}

// wantTimes holds fields to the form of every timestamp.
func wantTimes(t testing.TB, v any, names ...string) {
	t.Helper()
	for _, name := range names {
		text, _ := at(v, name).(string)
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", text); err != nil {
			t.Errorf("%s is %q: not RFC 3339, UTC, milliseconds", name, text)
		}
	}
}

// wantRefusal holds an answer to a status and to the error body of access management.
func wantRefusal(t testing.TB, r reply, status int, code string) {
	t.Helper()
	message, _ := at(r.Body, "error", "message").(string)
	if r.Status != status || at(r.Body, "error", "code") != code || message == "" || len(r.Body) != 1 {
		t.Errorf("%d %s, want %d %s", r.Status, r.Raw, status, code)
	}
	for name := range at(r.Body, "error").(map[string]any) {
		if !slices.Contains([]string{"code", "message", "details"}, name) {
			t.Errorf("an error body with %q: %s", name, r.Raw)
		}
	}
	if r.Header.Get("X-Request-ID") == "" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", r.Header)
	}
}

// itemWith is the item of a list whose named field is the text, nil for none.
func itemWith(list any, name, text string) any {
	items, _ := list.([]any)
	if i := slices.Index(texts(list, name), text); i >= 0 {
		return items[i]
	}
	return nil
}

// texts are the named fields of a list's items.
func texts(list any, name string) []string {
	items, _ := list.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		switch v := at(item, name).(type) {
		case string:
			out[i] = v
		case json.Number:
			out[i] = v.String()
		}
	}
	return out
}
