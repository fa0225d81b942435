package api_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// inForceRounds is how often each way to take a right away is tried; see rounds.
const inForceRounds = 200

// reader asks authorization.check in a loop until it is stopped. It counts the wrong answers: an allow to a question
// sent after the change was answered.
type reader struct {
	wait    sync.WaitGroup
	stop    atomic.Bool
	asked   atomic.Int64
	revoked atomic.Int64 // the round whose right was taken away, by an answered change
	granted atomic.Int64 // the round whose right is about to be given
	wrong   atomic.Int64
}

func (rd *reader) start(t testing.TB, s *harness.Team, action, rest string) {
	rd.wait.Go(func() {
		for !rd.stop.Load() {
			before := rd.revoked.Load()
			r, err := harness.TryCall("POST", s.URL+"/api/v1/authorize/accounts/"+s.Account+rest, s.Checker, "",
				"X-User-ID", s.Bob, "X-Account-ID", s.Account, "X-Action", action)
			// The right was taken away before the question was sent and was not given
			// back before it was answered.
			if err != nil || r.Status != 200 && !r.Undecided() {
				t.Errorf("authorization.check: %v %d %s", err, r.Status, r.Raw)
				return
			}
			if r.Body["allowed"] == true && before > 0 && rd.granted.Load() == before {
				rd.wrong.Add(1)
			}
			rd.asked.Add(1)
		}
	})
}

// takenAway runs the rounds: give grants the right, take takes it away by one call.
func takenAway(t *testing.T, s *harness.Team, action, rest string, give, take func(t testing.TB)) {
	t.Helper()
	rd := &reader{}
	for range 2 {
		rd.start(t, s, action, rest)
	}
	defer func() {
		rd.stop.Store(true)
		rd.wait.Wait()
		if rd.wrong.Load() > 0 || rd.asked.Load() == 0 {
			t.Errorf("%d of %d readers' questions were allowed after the answer", rd.wrong.Load(), rd.asked.Load())
		}
	}()
	for round := int64(1); round <= int64(harness.Rounds(inForceRounds)) && !t.Failed(); round++ {
		rd.granted.Store(round)
		give(t)
		if !s.Allowed(t, s.Bob, action, rest) {
			t.Fatalf("round %d: what was given does not count", round)
		}
		take(t)
		rd.revoked.Store(round)
		if s.Allowed(t, s.Bob, action, rest) {
			t.Fatalf("round %d: allowed after the change was answered", round)
		}
	}
}

// TestRevokedAssignmentIsInForceWhenAnswered: role_assignment.revoke, and role_assignment.put that replaces the role.
func TestRevokedAssignmentIsInForceWhenAnswered(t *testing.T) {
	t.Parallel()
	const action = "project:instance:create"
	for name, take := range map[string]func(s *harness.Team) func(testing.TB){
		"role_assignment.revoke": func(s *harness.Team) func(testing.TB) {
			return func(t testing.TB) {
				s.Must(t, 200, "DELETE", harness.AssignmentPath("project_admin", s.Bob, s.Project), "")
			}
		},
		"role_assignment.put replaced": func(s *harness.Team) func(testing.TB) {
			return func(t testing.TB) {
				s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", s.Bob, s.Project), `{"roleId":"project_admin"}`)
			}
		},
		"role_assignment.put INACTIVE": func(s *harness.Team) func(testing.TB) {
			return func(t testing.TB) {
				s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", s.Bob, s.Project), `{"status":"INACTIVE"}`)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewTeam(t)
			takenAway(t, s, action, "/projects/"+s.Project+"/instances", func(t testing.TB) { s.Grant(t, "project_admin", s.Bob, s.Project) }, take(s))
		})
	}
}

// TestChangeOfGroupIsInForceWhenAnswered: a member removed and the whole group deleted.
func TestChangeOfGroupIsInForceWhenAnswered(t *testing.T) {
	t.Parallel()
	const action = "project:instance:read"
	group := func(t testing.TB, s *harness.Team, name string) string {
		id, _ := harness.At(s.Must(t, 201, "POST", "/groups", fmt.Sprintf(`{"name":%q}`, name)).Body, "group", "id").(string)
		s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", id, s.Project), `{"assigneeType":"IAMGROUP"}`)
		return id
	}
	t.Run("member removed", func(t *testing.T) {
		t.Parallel()
		s := harness.NewTeam(t)
		path := "/groups/" + group(t, s, "g") + "/members/" + s.Bob
		takenAway(t, s, action, "/projects/"+s.Project+"/x",
			func(t testing.TB) { s.Must(t, 200, "PUT", path, "") }, func(t testing.TB) { s.Must(t, 200, "DELETE", path, "") })
	})
	t.Run("group deleted", func(t *testing.T) {
		t.Parallel()
		s := harness.NewTeam(t)
		id := ""
		takenAway(t, s, action, "/projects/"+s.Project+"/x",
			func(t testing.TB) {
				id = group(t, s, "g")
				s.Must(t, 200, "PUT", "/groups/"+id+"/members/"+s.Bob, "")
			}, func(t testing.TB) { s.Must(t, 200, "DELETE", "/groups/"+id, "") })
	})
}

func TestSuspensionIsInForceWhenAnswered(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	set := func(status string) func(testing.TB) {
		return func(t testing.TB) {
			if r := harness.Call(t, "PATCH", s.Path(""), s.Platform, fmt.Sprintf(`{"status":%q}`, status)); r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Raw)
			}
		}
	}
	takenAway(t, s, "project:instance:read", "/projects/"+s.Project+"/x", set("ACTIVE"), set("SUSPENDED"))
}

func TestDeletedProjectIsInForceWhenAnswered(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	for round := range harness.Rounds(inForceRounds) {
		r := s.Must(t, 201, "POST", "/projects", fmt.Sprintf(`{"name":"p%d"}`, round))
		id, _ := harness.At(r.Body, "project", "id").(string)
		s.Grant(t, "project_reader", s.Bob, id)
		rest := "/projects/" + id + "/x"
		if !s.Allowed(t, s.Bob, "project:instance:read", rest) {
			t.Fatalf("round %d: the reader of a new project is denied", round)
		}
		s.Must(t, 200, "DELETE", "/projects/"+id, "")
		for _, user := range []string{s.Bob, s.Admin} {
			if s.Allowed(t, user, "project:instance:read", rest) {
				t.Fatalf("round %d: %s is allowed in a deleted project", round, user)
			}
		}
	}
}
