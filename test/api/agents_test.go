package api_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAgentsAreKept guarantees that an agent reads as it was made, changed and deleted, with its roles and delegations.
func TestAgentsAreKept(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/agents", `{"name":" Helper ","clients":[{"issuer":"portcullis","client_id":"helper"}]}`)
	agent := harness.At(r.Body, "agent")
	harness.WantFields(t, "the agent", agent, "id", "account_id", "name", "status", "clients", "created_at", "updated_at")
	id, _ := harness.At(agent, "id").(string)
	if harness.At(agent, "name") != "Helper" || harness.At(agent, "status") != "ACTIVE" {
		t.Errorf("%v", agent)
	}
	for body, want := range map[string]int{
		`{"name":"Helper"}`: 409, `{"name":"other","clients":[{"issuer":"portcullis","client_id":"helper"}]}`: 409, `{}`: 400,
		`{"name":"x","status":"INVITED"}`: 400, `{"name":"x","clients":[{"issuer":"i"}]}`: 400,
		`{"name":"x","clients":[{"issuer":"i","client_id":"c"},{"issuer":"i","client_id":"c"}]}`: 400,
		`{"name":"x","clients":[{"issuer":"i","client_id":" c"}]}`:                               400,
		`{"name":"x","clients":[{"issuer":"i","client_id":"agent-assistant-v1"}]}`:               400,
	} {
		if got := s.Do(t, "POST", "/agents", body); got.Status != want {
			t.Errorf("%s: %d %s", body, got.Status, got.Raw)
		}
	}
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", id, s.Project), `{"assigneeType":"AGENT"}`)
	harness.WantRefusal(t, s.Do(t, "PUT", harness.AssignmentPath("project_reader", s.Bob, s.Project), `{"assigneeType":"AGENT"}`), 404, "NOT_FOUND")
	if s.Allowed(t, id, "project:instance:read", "/projects/"+s.Project+"/instances") {
		t.Error("an agent is allowed as a user")
	}
	r = s.Must(t, 200, "PATCH", "/agents/"+id, `{"name":"Worker","status":"SUSPENDED","clients":[{"issuer":"portcullis","client_id":"worker"}]}`)
	if harness.At(r.Body, "agent", "name") != "Worker" || harness.At(r.Body, "agent", "status") != "SUSPENDED" {
		t.Errorf("%v", r.Body)
	}
	harness.WantRefusal(t, s.Do(t, "PATCH", "/agents/"+id, `{}`), 400, "BAD_REQUEST")
	other := s.Must(t, 201, "POST", "/agents", `{"name":"Helper","clients":[{"issuer":"portcullis","client_id":"helper"}]}`) // both are free
	otherID, _ := harness.At(other.Body, "agent", "id").(string)
	harness.WantRefusal(t, s.Do(t, "PATCH", "/agents/"+otherID, `{"clients":[{"issuer":"portcullis","client_id":"worker"}]}`), 409, "CONFLICT")
	if r = s.Must(t, 200, "GET", "/agents?page_size=1", ""); fmt.Sprint(harness.At(r.Body, "total_count")) != "2" || harness.At(r.Body, "next_page_token") == "" {
		t.Errorf("%s", r.Raw)
	}
	bob := s.Token(t, "--user", s.Bob)
	delegations := "/users/" + s.Bob + "/delegations"
	harness.WantRefusal(t, harness.Call(t, "PUT", s.Path(delegations+"/agent-absent-v1"), bob, `{"permissions":["project:*:read"]}`), 404, "NOT_FOUND")
	if r := harness.Call(t, "PUT", s.Path(delegations+"/"+id), bob, `{"permissions":["project:*:read"],"project_id":"`+s.Project+`"}`); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	s.Must(t, 200, "GET", delegations+"/"+id, "")
	s.Must(t, 200, "DELETE", "/agents/"+id, "")
	harness.WantRefusal(t, s.Do(t, "GET", "/agents/"+id, ""), 404, "NOT_FOUND")
	harness.WantRefusal(t, s.Do(t, "GET", delegations+"/"+id, ""), 404, "NOT_FOUND")
	s.Must(t, 200, "PATCH", "/agents/"+otherID, `{"clients":[{"issuer":"portcullis","client_id":"worker"}]}`)
}

// TestDelegationsAreTheUsers guarantees that nobody else gives a delegation, not even an admin, nor the user with an API
// key. An admin can end one.
func TestDelegationsAreTheUsers(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/agents", `{"name":"Helper"}`)
	id, _ := harness.At(r.Body, "agent", "id").(string)
	place, body := "/users/"+s.Bob+"/delegations/"+id, `{"permissions":["project:*:read"]}`
	bob, carol := s.Token(t, "--user", s.Bob), s.Token(t, "--user", s.Carol)
	harness.WantRefusal(t, s.Do(t, "PUT", place, body), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "PUT", s.Path(place), carol, body), 403, "FORBIDDEN")
	for bad, want := range map[string]int{
		`{}`: 400, `{"permissions":[]}`: 400, `{"permissions":["x"]}`: 400, `{"permissions":["project:*:read"],"expires_at":"2001-01-01T00:00:00Z"}`: 400,
		`{"permissions":["project:*:read"],"project_id":"proj-absent-v1"}`: 400, `{"permissions":["project:*:read"],"more":1}`: 400,
	} {
		if got := harness.Call(t, "PUT", s.Path(place), bob, bad); got.Status != want {
			t.Errorf("%s: %d %s", bad, got.Status, got.Raw)
		}
	}
	for range 2 {
		if got := harness.Call(t, "PUT", s.Path(place), bob, body); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Raw)
		}
	}
	harness.WantRefusal(t, harness.Call(t, "GET", s.Path(place), carol, ""), 403, "FORBIDDEN")
	harness.WantRefusal(t, harness.Call(t, "DELETE", s.Path(place), carol, ""), 403, "FORBIDDEN")
	if got := harness.Call(t, "GET", s.Path("/users/"+s.Bob+"/delegations"), bob, ""); got.Status != 200 || fmt.Sprint(harness.At(got.Body, "total_count")) != "1" {
		t.Errorf("%d %s", got.Status, got.Raw)
	}
	s.Must(t, 200, "DELETE", place, "")
	harness.WantRefusal(t, s.Do(t, "DELETE", place, ""), 404, "NOT_FOUND")
	if got := harness.Call(t, "PUT", s.Path(place), bob, body); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Raw)
	}
	if got := harness.Call(t, "DELETE", s.Path(place), bob, ""); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Raw)
	}
}
