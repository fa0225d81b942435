package api_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestProjectIsCreated by the account's admin, with an id of the gateway's choice.
func TestProjectIsCreated(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	r := s.must(t, 201, "POST", "/projects", `{"name":"Website"}`)
	wantFields(t, "the answer", r.Body, "project")
	wantFields(t, "the project", r.Body["project"], "id", "account_id", "name", "created_at", "updated_at")
	wantTimes(t, r.Body["project"], "created_at", "updated_at")
	id, _ := at(r.Body, "project", "id").(string)
	if len(id) != len("proj--v1")+26 || at(r.Body, "project", "account_id") != s.Account {
		t.Errorf("%s", r.Raw)
	}
	if !s.allowed(t, s.Admin, "project:instance:create", "/projects/"+id+"/instances") {
		t.Error("the account's admin is denied in the new project")
	}
	wantRefusal(t, s.do(t, "POST", "/projects", `{"name":"Website"}`), 409, "CONFLICT")
	wantRefusal(t, s.do(t, "POST", "/projects", `{"id":"proj-mine-v1","name":"Mine"}`), 403, "FORBIDDEN")
	wantRefusal(t, call(t, "POST", s.path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Twice"}`, s.Project)), 409, "CONFLICT")
	wantRefusal(t, call(t, "POST", s.path("/projects"), s.userToken(t, s.Bob), `{"name":"Bob's"}`), 403, "FORBIDDEN")
	wantRefusal(t, s.do(t, "POST", "/projects", `{}`), 400, "BAD_REQUEST")
}

// TestProjectsAreListed page by page, each once, by everybody who may read them.
func TestProjectsAreListed(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	want := []string{"Project " + teamNameOf(s)}
	for i := range 4 {
		name := fmt.Sprintf("More %d", i)
		s.must(t, 201, "POST", "/projects", fmt.Sprintf(`{"name":%q}`, name))
		want = append(want, name)
	}
	s.grant(t, "team_member", s.Carol, "")
	carol := s.userToken(t, s.Carol)
	var got, times []string
	token := ""
	for range 5 {
		r := call(t, "GET", s.path("/projects?page_size=2&page_token="+token), carol, "")
		wantFields(t, "the answer", r.Body, "projects", "total_count", "next_page_token")
		if r.Status != 200 || fmt.Sprint(r.Body["total_count"]) != "5" {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		got, times = append(got, texts(r.Body["projects"], "name")...), append(times, texts(r.Body["projects"], "created_at")...)
		if token, _ = r.Body["next_page_token"].(string); token == "" {
			break
		}
	}
	slices.Sort(got) // those of one millisecond stand in any order
	if slices.Sort(want); !slices.Equal(got, want) || !slices.IsSorted(times) {
		t.Errorf("%v, want %v, made at %v", got, want, times)
	}
	wantRefusal(t, call(t, "GET", s.path("/projects"), s.userToken(t, s.Bob), ""), 403, "FORBIDDEN")
	r := s.must(t, 200, "GET", "/projects?page_size=2", "")
	page := fmt.Sprint(r.Body["next_page_token"])
	other := newTeam(t)
	for name, query := range map[string]string{
		"another account's token": "page_token=" + page, "forged": "page_token=AAAA", "size 0": "page_size=0", "size 101": "page_size=101",
		"unknown": "pageSize=2", "twice": "page_size=1&page_size=2", "operator": "page_size[$gt]=1",
	} {
		if r := other.do(t, "GET", "/projects?"+query, ""); r.Status != 400 {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}

func teamNameOf(s *team) string { return s.Account[len("acct-") : len(s.Account)-len("-v1")] }

// TestProjectIsRenamedAndDeleted: a deleted one is gone, for good.
func TestProjectIsRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	path := "/projects/" + s.Project
	r := s.must(t, 200, "PATCH", path, `{"name":"Renamed"}`)
	wantFields(t, "the project", r.Body["project"], "id", "account_id", "name", "created_at", "updated_at")
	if at(r.Body, "project", "name") != "Renamed" {
		t.Errorf("%s", r.Raw)
	}
	s.grant(t, "project_reader", s.Bob, s.Project)
	wantRefusal(t, call(t, "DELETE", s.path(path), s.userToken(t, s.Bob), ""), 403, "FORBIDDEN")
	r = s.must(t, 200, "DELETE", path, "")
	if len(r.Body) == 0 {
		t.Errorf("a delete without a body: %s", r.Raw)
	}
	for _, user := range []string{s.Admin, s.Bob} {
		if s.allowed(t, user, "project:instance:read", path+"/instances") {
			t.Errorf("%s is allowed in a project that is deleted", user)
		}
	}
	if held := s.must(t, 200, "GET", "/roles/users/"+s.Bob, ""); fmt.Sprint(at(held.Body, "meta", "total")) != "0" {
		t.Errorf("an assignment outlives its project: %s", held.Raw)
	}
	wantRefusal(t, s.do(t, "DELETE", path, ""), 404, "NOT_FOUND")
	wantRefusal(t, s.do(t, "PATCH", path, `{"name":"Again"}`), 404, "NOT_FOUND")
	wantRefusal(t, call(t, "POST", s.path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Again"}`, s.Project)), 409, "CONFLICT")
	s.must(t, 201, "POST", "/projects", `{"name":"Renamed"}`) // its name is free
}
