package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestProjectIsCreated by the account's admin, with an id of the gateway's choice.
func TestProjectIsCreated(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/projects", `{"name":"Website"}`)
	harness.WantFields(t, "the answer", r.Body, "project")
	harness.WantFields(t, "the project", r.Body["project"], "id", "account_id", "name", "created_at", "updated_at")
	harness.WantTimes(t, r.Body["project"], "created_at", "updated_at")
	id, _ := harness.At(r.Body, "project", "id").(string)
	if len(id) != len("proj--v1")+26 || harness.At(r.Body, "project", "account_id") != s.Account {
		t.Errorf("%s", r.Raw)
	}
	if !s.Allowed(t, s.Admin, "project:instance:create", "/projects/"+id+"/instances") {
		t.Error("the account's admin is denied in the new project")
	}
	harness.WantRefusal(t, s.Do(t, "POST", "/projects", `{"name":"Website"}`), 409, "CONFLICT")
	harness.WantRefusal(t, s.Do(t, "POST", "/projects", `{"id":"proj-mine-v1","name":"Mine"}`), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "POST", s.Path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Twice"}`, s.Project)), 409, "CONFLICT")
	harness.WantRefusal(t, harness.Call(t, "POST", s.Path("/projects"), s.UserToken(t, s.Bob), `{"name":"Bob's"}`), 403, "FORBIDDEN")
	harness.WantRefusal(t, s.Do(t, "POST", "/projects", `{}`), 400, "BAD_REQUEST")
}

// TestProjectsAreListed page by page, each once, by everybody who may read them.
func TestProjectsAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	want := []string{"Project " + teamNameOf(s)}
	for i := range 4 {
		name := fmt.Sprintf("More %d", i)
		s.Must(t, 201, "POST", "/projects", fmt.Sprintf(`{"name":%q}`, name))
		want = append(want, name)
	}
	s.Grant(t, "team_member", s.Carol, "")
	carol := s.UserToken(t, s.Carol)
	var got, times []string
	token := ""
	for range 5 {
		r := harness.Call(t, "GET", s.Path("/projects?page_size=2&page_token="+token), carol, "")
		harness.WantFields(t, "the answer", r.Body, "projects", "total_count", "next_page_token")
		if r.Status != 200 || fmt.Sprint(r.Body["total_count"]) != "5" {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		got, times = append(got, harness.Texts(r.Body["projects"], "name")...), append(times, harness.Texts(r.Body["projects"], "created_at")...)
		if token, _ = r.Body["next_page_token"].(string); token == "" {
			break
		}
	}
	slices.Sort(got) // those of one millisecond stand in any order
	if slices.Sort(want); !slices.Equal(got, want) || !slices.IsSorted(times) {
		t.Errorf("%v, want %v, made at %v", got, want, times)
	}
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path("/projects"), s.UserToken(t, s.Bob), ""), 403, "FORBIDDEN")
	page := fmt.Sprint(s.Must(t, 200, "GET", "/projects?page_size=2", "").Body["next_page_token"])
	harness.WantRefusal(t, harness.NewTeam(t).Do(t, "GET", "/projects?page_token="+page, ""), 400, "BAD_REQUEST")
}

func teamNameOf(s *harness.Team) string { return s.Account[len("acct-") : len(s.Account)-len("-v1")] }

// TestProjectIsRenamedAndDeleted: a deleted one is gone, for good.
func TestProjectIsRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	path := "/projects/" + s.Project
	r := s.Must(t, 200, "PATCH", path, `{"name":"Renamed"}`)
	harness.WantFields(t, "the project", r.Body["project"], "id", "account_id", "name", "created_at", "updated_at")
	if harness.At(r.Body, "project", "name") != "Renamed" {
		t.Errorf("%s", r.Raw)
	}
	s.Grant(t, "project_reader", s.Bob, s.Project)
	harness.WantRefusal(t, harness.Call(t, "DELETE", s.Path(path), s.UserToken(t, s.Bob), ""), 403, "FORBIDDEN")
	r = s.Must(t, 200, "DELETE", path, "")
	if len(r.Body) == 0 {
		t.Errorf("a delete without a body: %s", r.Raw)
	}
	for _, user := range []string{s.Admin, s.Bob} {
		if s.Allowed(t, user, "project:instance:read", path+"/instances") {
			t.Errorf("%s is allowed in a project that is deleted", user)
		}
	}
	if held := s.Must(t, 200, "GET", "/roles/users/"+s.Bob, ""); fmt.Sprint(harness.At(held.Body, "meta", "total")) != "0" {
		t.Errorf("an assignment outlives its project: %s", held.Raw)
	}
	harness.WantRefusal(t, s.Do(t, "DELETE", path, ""), 404, "NOT_FOUND")
	harness.WantRefusal(t, s.Do(t, "PATCH", path, `{"name":"Again"}`), 404, "NOT_FOUND")
	harness.WantRefusal(t, harness.Call(t, "POST", s.Path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Again"}`, s.Project)), 409, "CONFLICT")
	s.Must(t, 201, "POST", "/projects", `{"name":"Renamed"}`) // its name is free
}
