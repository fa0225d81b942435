package faults_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	crashRounds  = 5
	crashClients = 4
	crashAccount = "acct-crash-v1"
	crashProject = "proj-crash-v1"
	crashAdmin   = "user-crash-v1"
)

// TestKilledInABurstNothingAnsweredIsLost kills the gateway with SIGKILL while clients
// replace roles. Each client swaps its user's only role between two; after the
// restart the user has exactly one of them, and the last answered one at least.
func TestKilledInABurstNothingAnsweredIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	members := []harness.Member{{ID: crashAdmin, Roles: []string{"account_admin"}}}
	for i := range crashClients {
		members = append(members, harness.Member{ID: swapper(i)})
	}
	harness.Seed(t, dir, crashAccount, crashProject, members...)

	swaps := make([]swap, crashClients)
	for round := range crashRounds + 1 {
		g := harness.StartIn(t, dir)
		admin := g.UserToken(t, crashAdmin)
		for i := range swaps {
			now := holds(t, g, admin, swapper(i))
			if round > 0 && (len(now) != 1 || now[0] != swaps[i].answered && now[0] != swaps[i].underWay) {
				t.Fatalf("round %d: %s holds %v; answered was %q, under way %q", round, swapper(i), now, swaps[i].answered, swaps[i].underWay)
			}
			if round > 0 {
				swaps[i].answered = now[0]
			}
		}
		if round < crashRounds {
			swapUntilKilled(t, g, admin, swaps)
		}
	}
}

// swap is one client's: what was answered last, and what was asked for after it and
// may have happened.
type swap struct{ answered, underWay string }

// swapUntilKilled runs the clients, and kills the gateway when enough was answered.
func swapUntilKilled(t *testing.T, g *harness.Gateway, admin string, swaps []swap) {
	t.Helper()
	const enough = 40
	answered := make(chan struct{}, len(swaps)*1000)
	var wait sync.WaitGroup
	for i := range swaps {
		wait.Go(func() {
			s := &swaps[i]
			for {
				s.underWay = "project_reader"
				if s.answered == s.underWay {
					s.underWay = "project_admin"
				}
				r, err := harness.TryCall("PUT", assignmentURL(g, s.underWay, swapper(i)), admin, swapBody(s.answered))
				if err != nil {
					return // the process is gone
				}
				if r.Undecided() { // on a busy machine; nothing was done
					continue
				}
				if r.Status != 200 {
					t.Errorf("role_assignment.put: %d %s", r.Status, r.Raw)
					return
				}
				s.answered = s.underWay
				answered <- struct{}{}
			}
		})
	}
	go func() { wait.Wait(); close(answered) }()
	for range enough {
		if _, more := <-answered; !more {
			t.Fatal("all clients gave up")
		}
	}
	g.Kill(t)
	wait.Wait()
}

func swapper(i int) string { return fmt.Sprintf("user-swap%d-v1", i) }

func assignmentURL(g *harness.Gateway, role, user string) string {
	return fmt.Sprintf("%s/api/v1/accounts/%s/roles/%s/assignments/%s", g.URL, crashAccount, role, user)
}

func swapBody(current string) string {
	if current == "" {
		return fmt.Sprintf(`{"projectId":%q}`, crashProject)
	}
	return fmt.Sprintf(`{"projectId":%q,"roleId":%q}`, crashProject, current)
}

// holds lists the roles of a user.
func holds(t *testing.T, g *harness.Gateway, token, user string) []string {
	t.Helper()
	r := harness.Call(t, "GET", fmt.Sprintf("%s/api/v1/accounts/%s/roles/users/%s", g.URL, crashAccount, user), token, "")
	data, ok := r.Body["data"].([]any)
	if r.Status != 200 || !ok {
		t.Fatalf("role_assignment.list_of_user: %d %s", r.Status, r.Raw)
	}
	var out []string
	for _, item := range data {
		role, _ := item.(map[string]any)["roleId"].(string)
		out = append(out, role)
	}
	return out
}
