package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// member is the user of a replica scene.
const member = "user-mcpmember-v1"

// replicaScene is three gateways on one store, before a server for registered agents. The agent helper acts for the member.
type replicaScene struct {
	*harness.Replicas
	agent, path, token string

	// calls counts the calls that reached the server, open its open streams.
	calls, open atomic.Int32
}

// replicaRows need a delegation, and an approval for each call of a tool.
var replicaRows = strings.Replace(agentRows, `"effect": "write"}`, `"effect": "write", "approval": "each_call"}`, 1)

// newReplicaScene starts the gateways. The server holds the stream of a call with the word hold open.
func newReplicaScene(t *testing.T) *replicaScene {
	t.Helper()
	s := &replicaScene{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a broken request counts as another one
		if strings.Contains(string(body), `"hold"`) {
			s.open.Add(1)
			defer s.open.Add(-1)
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush() // the gateway may have gone
			<-r.Context().Done()
			return
		}
		s.calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.start(t, server.URL, replicaRows)
	return s
}

// start starts the gateways, registers the agent, and gives it and the member all rights in the project.
func (s *replicaScene) start(t *testing.T, server, row string) {
	t.Helper()
	s.Replicas = harness.StartReplicas(t, 3, "--public-url", publicURL, "--policy-dir", policiesWith(t, row), "--upstream", "github="+server)
	s.path = "/mcp/projects/" + s.Project + "/issues"
	s.token = s.Token(t, "--user", member, "--agent", "helper", "--audience", publicURL+s.path, "--scope", bothScopes)
	s.AddUser(t, member)
	r := s.Must(t, 201, "POST", "/agents", `{"name":"helper","clients":[{"issuer":"portcullis","client_id":"helper"}]}`)
	s.agent, _ = harness.At(r.Body, "agent", "id").(string)
	s.give(t, 0)
}

// replica is the scene at one of the replicas.
func (s *replicaScene) replica(n int) *harness.Scene {
	scene := *s.Scene
	scene.Gateway = s.All[n%len(s.All)]
	return &scene
}

// delegate gives the agent the member's delegation, or ends it.
func (s *replicaScene) delegate(t *testing.T, n int, method, body string) {
	t.Helper()
	url := s.replica(n).Path("/users/" + member + "/delegations/" + s.agent)
	if r := harness.Call(t, method, url, s.UserToken(t, member), body); r.Status != 200 {
		t.Fatalf("%s: %d %s", method, r.Status, r.Raw)
	}
}

// setMember sets the member's status.
func (s *replicaScene) setMember(t *testing.T, n int, status string) {
	t.Helper()
	r := harness.Call(t, "PUT", s.replica(n).URL+"/api/v1/users/"+member, s.AdminToken, `{"status":"`+status+`"}`, "x-account-id", s.Account)
	if r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

// revoke takes the role from the user or the agent.
func (s *replicaScene) revoke(t *testing.T, n int, assignee, kind string) {
	t.Helper()
	s.replica(n).Must(t, 200, "DELETE", harness.AssignmentPath("project_admin", assignee, s.Project)+"&assigneeType="+kind, "")
}

// give gives the member and the agent all that a call needs.
func (s *replicaScene) give(t *testing.T, n int) {
	t.Helper()
	s.setMember(t, n, "ACTIVE")
	for assignee, kind := range map[string]string{member: "USER", s.agent: "AGENT"} {
		s.replica(n).Must(t, 200, "PUT", harness.AssignmentPath("project_admin", assignee, s.Project), `{"assigneeType":"`+kind+`"}`)
	}
	s.replica(n).Must(t, 200, "PATCH", "/agents/"+s.agent, `{"status":"ACTIVE"}`)
	s.delegate(t, n, "PUT", `{"permissions":["*:*:*"]}`)
}

// callEach calls the tool at each replica, all at the same time, and returns how many calls the server answered. It repeats a
// call without a verdict.
func (s *replicaScene) callEach(t *testing.T, times int, tool, arguments string) (done int32) {
	t.Helper()
	before := s.calls.Load()
	var all sync.WaitGroup
	var answered atomic.Int32
	for n := range times * len(s.All) {
		all.Go(func() {
			text := ""
			for try := 0; text == "" || strings.Contains(text, "-32603") && try < 20; try++ { // a read of the store took too long
				_, text = raw(t, s.replica(n).Gateway, s.path, s.token, callWith(tool, arguments), modern("tools/call", tool)...)
			}
			if strings.Contains(text, `"done"`) {
				answered.Add(1)
			}
		})
	}
	all.Wait()
	if made := s.calls.Load() - before; made != answered.Load() {
		t.Errorf("the server got %d calls, and %d were answered", made, answered.Load())
	}
	return answered.Load()
}

// TestAnEndedRightIsEndedOnEachReplica guarantees for each way to end a right: the first call after the answer is denied on each
// of three replicas, and an open stream of each ends within a second, at the server too. What is given back is in force in
// the same way. It runs alone, since it measures time.
func TestAnEndedRightIsEndedOnEachReplica(t *testing.T) {
	s := newReplicaScene(t)
	round := 0
	for name, take := range map[string]func(n int){
		"role of the agent":       func(n int) { s.revoke(t, n, s.agent, "AGENT") },
		"role of the user":        func(n int) { s.revoke(t, n, member, "USER") },
		"suspension of the agent": func(n int) { s.replica(n).Must(t, 200, "PATCH", "/agents/"+s.agent, `{"status":"SUSPENDED"}`) },
		"suspension of the user":  func(n int) { s.setMember(t, n, "SUSPENDED") },
		"end of the delegation":   func(n int) { s.delegate(t, n, "DELETE", "") },
	} {
		for range 2 {
			round++
			if done := s.callEach(t, 1, "search_issues", `{"q":"x"}`); done != 3 {
				t.Fatalf("%s: %d of 3 replicas let an allowed call through", name, done)
			}
			streams := s.hold(t)
			take(round)
			answered := time.Now()
			if done := s.callEach(t, 1, "search_issues", `{"q":"x"}`); done != 0 {
				t.Errorf("%s by replica %d: %d of 3 replicas let the next call through", name, round%3, done)
			}
			for n, ended := range streams {
				select {
				case end := <-ended:
					if took := end.Sub(answered); took > time.Second {
						t.Errorf("%s: the stream of replica %d ended after %s", name, n, took)
					}
				case <-time.After(10 * time.Second):
					t.Errorf("%s: the stream of replica %d goes on", name, n)
				}
			}
			harness.Soon(t, "the server's calls end", func() bool { return s.open.Load() == 0 })
			s.give(t, round+1)
		}
	}
}

// hold opens the stream of a call at each replica. It returns once each was judged again.
func (s *replicaScene) hold(t *testing.T) (streams []chan time.Time) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	for _, g := range s.All {
		resp := streaming(ctx, t, g, s.path, s.token, callWith("search_issues", `{"q":"hold"}`), modern("tools/call", "search_issues"))
		ended := make(chan time.Time, 1)
		streams = append(streams, ended)
		go func() {
			_, _ = io.Copy(io.Discard, resp.Body) // until its end
			ended <- time.Now()
		}()
	}
	<-time.After(700 * time.Millisecond)
	for n, ended := range streams {
		select {
		case <-ended:
			t.Fatalf("the stream of replica %d has ended before", n)
		default:
		}
	}
	return streams
}

// TestAnApprovalIsUsedOnOneReplica guarantees that one of many equal calls at all replicas at once goes out with an approval.
// One replica made the request, and another one took the decision.
func TestAnApprovalIsUsedOnOneReplica(t *testing.T) {
	t.Parallel()
	s := newReplicaScene(t)
	for round := range 10 {
		arguments := fmt.Sprintf(`{"q":"%d"}`, round)
		_, text := raw(t, s.replica(round).Gateway, s.path, s.token, callWith(merge, arguments), modern("tools/call", merge)...)
		id := between(text, `"access_request":{"id":"`)
		url := s.replica(round + 1).Path("/users/" + member + "/approvals/" + id)
		if r := harness.Call(t, "PATCH", url, s.UserToken(t, member), `{"status":"APPROVED"}`); r.Status != 200 {
			t.Fatalf("%d %s, for %s", r.Status, r.Raw, text)
		}
		if done := s.callEach(t, 4, merge, arguments); done != 1 {
			t.Fatalf("round %d: %d of 12 calls went out", round, done)
		}
	}
}

// TestSealedIDsOpenOnEachReplica guarantees that a session and a task of one replica go on at the others, for their caller
// alone.
func TestSealedIDsOpenOnEachReplica(t *testing.T) {
	t.Parallel()
	server, s := newTasker(t), &replicaScene{}
	s.start(t, server.url, agentRows)
	server.set("tools/call", modernTask)
	_, text := raw(t, s.All[0], s.path, s.token, call("search_issues"), modern("tools/call", "search_issues")...)
	task := idIn(t, text)
	server.set("tasks/get", `{"resultType":"complete","taskId":"t.1","status":"completed","result":{"content":[]}}`)
	resp, text := raw(t, s.All[0], s.path, s.token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	alone := s.Token(t, "--user", member, "--audience", publicURL+s.path, "--scope", bothScopes)
	for n, g := range s.All {
		if resp, text := askTask(t, g, s.path, s.token, "tasks/get", task, ""); resp.StatusCode != 200 || idIn(t, text) != task {
			t.Errorf("replica %d: %d %s", n, resp.StatusCode, text)
		}
		if resp, text := askTask(t, g, s.path, alone, "tasks/get", task, ""); resp.StatusCode != 404 {
			t.Errorf("replica %d, without the agent: %d %s", n, resp.StatusCode, text)
		}
		if status := send(t, http.MethodPost, g.URL+s.path, s.token, legacyStart, session); status != 200 {
			t.Errorf("replica %d, the session: %d", n, status)
		}
		if status := send(t, http.MethodPost, g.URL+s.path, alone, legacyStart, session); status != 404 {
			t.Errorf("replica %d, the session without the agent: %d", n, status)
		}
	}
}
