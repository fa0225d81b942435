package faults_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// answeredDecision is a client's verdict.
type answeredDecision struct {
	user    string
	allowed bool
}

// TestKilledWhileDecisionsAreRequired kills the gateway with SIGKILL while clients ask: each verdict that
// was answered is in the log once, and the log is whole after each kill.
func TestKilledWhileDecisionsAreRequired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	members := []harness.Member{{ID: crashAdmin, Roles: []string{"account_admin"}}}
	var clients []string
	for i := range 8 {
		clients = append(clients, swapper(i))
		members = append(members, harness.Member{ID: swapper(i), Roles: []string{"account_viewer"}[:i%2]})
	}
	harness.Seed(t, dir, crashAccount, crashProject, members...)
	where := harness.StoreArgs(t, dir, nil)
	answered := map[string]answeredDecision{}
	token := ""
	for range logKills {
		g := harness.Launch(t, dir, append([]string{"--decision-log", "required", "--decision-log-size", "1GiB"}, where...)...)
		if token == "" {
			token = g.ServiceToken(t, "authz:check")
		}
		askUntilKilled(t, g, token, crashAccount, crashProject, clients, answered)
		if o := harness.Command(t, nil, append([]string{"decisions", "verify", "--data-dir", dir}, where...)...); o.Code != 0 || !strings.Contains(o.Stdout, "ok") {
			t.Fatalf("verify: %d\n%s%s", o.Code, o.Stdout, o.Stderr)
		}
	}
	wantRecorded(t, dir, answered)
}

// TestReplicasAreKilledWhileDecisionsAreRequired kills one of three gateways on one database and one data folder after the
// other, each with a log of its own there: each verdict that was answered is in one of the logs once, and all are whole.
func TestReplicasAreKilledWhileDecisionsAreRequired(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 3, "--decision-log", "required", "--decision-log-size", "1GiB")
	clients := []string{r.Admin, "user-replica-a-v1", "user-replica-b-v1"}
	answered := map[string]answeredDecision{}
	for kill := range (logKills + 9) / 10 * 3 {
		g := r.All[kill%3]
		askUntilKilled(t, g, r.Checker, r.Account, r.Project, clients, answered)
		r.All[kill%3] = harness.Launch(t, g.DataDir, r.Flags...)
		reply := r.AskAt(t, (kill+1)%3, r.Admin, "project:instance:read", "/projects/"+r.Project) // the others go on
		if id := reply.Header.Get("X-Decision-ID"); reply.Status != 200 || id == "" {
			t.Errorf("%d %s", reply.Status, reply.Raw)
		} else {
			answered[id] = answeredDecision{r.Admin, reply.Body["allowed"] == true}
		}
	}
	for _, g := range r.All {
		g.Terminate(t)
		g.Ended(t)
	}
	o := harness.Command(t, nil, "decisions", "verify", "--data-dir", r.All[0].DataDir, "--mongo-url", r.Mongo)
	if o.Code != 0 || !strings.Contains(o.Stdout, "logs: 3") {
		t.Errorf("verify: %d\n%s%s", o.Code, o.Stdout, o.Stderr)
	}
	wantRecorded(t, r.All[0].DataDir, answered)
}

// wantRecorded compares the log with the clients' verdicts: each is there once, as answered.
func wantRecorded(t *testing.T, dir string, answered map[string]answeredDecision) {
	t.Helper()
	seen := map[string]int{}
	for line := range strings.Lines(harness.Command(t, nil, "decisions", "export", "-n", "0", "--data-dir", dir).Stdout) {
		var e struct {
			DecisionID string `json:"decision_id"`
			Input      struct{ Subject struct{ ID string } }
			Result     struct{ Allow bool }
		}
		must.Do(t, json.Unmarshal([]byte(line), &e))
		seen[e.DecisionID]++
		if d, ok := answered[e.DecisionID]; ok && (d.user != e.Input.Subject.ID || d.allowed != e.Result.Allow) {
			t.Errorf("%s was told %+v, recorded is %s", e.DecisionID, d, line)
		}
	}
	for id := range answered {
		if seen[id] != 1 {
			t.Errorf("%s was told, and is %d times in the log", id, seen[id])
		}
	}
	t.Logf("%d verdicts told, %d recorded", len(answered), len(seen))
}

// askUntilKilled has a client ask about each user, and kills the gateway when enough was answered.
func askUntilKilled(t *testing.T, g *harness.Gateway, token, account, project string, users []string, answers map[string]answeredDecision) {
	t.Helper()
	const enough = 60
	var wait sync.WaitGroup
	var mu sync.Mutex
	answered := make(chan struct{}, 100_000)
	for _, user := range users {
		wait.Go(func() {
			for {
				r, err := harness.TryCall("POST", fmt.Sprintf("%s/api/v1/authorize/accounts/%s/projects/%s", g.URL, account, project), token, "",
					"X-User-ID", user, "X-Account-ID", account, "X-Action", "project:instance:read")
				if err != nil {
					return // the process is gone
				}
				if r.Undecided() {
					continue
				}
				allowed, ok := r.Body["allowed"].(bool)
				id := r.Header.Get("X-Decision-ID")
				if r.Status != 200 || !ok || id == "" {
					t.Errorf("authorization.check: %d %s", r.Status, r.Raw)
					return
				}
				mu.Lock()
				answers[id] = answeredDecision{user, allowed}
				mu.Unlock()
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
