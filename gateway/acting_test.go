package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// actor is the client of a token by which an agent acts for its user.
func actor() *resources.Client {
	return &resources.Client{Issuer: "https://login.example", ID: "helper", Actors: []string{"helper"}}
}

// ceiling is policy for an agent: what it is asked about the user whose agent acts, and about the agent.
type ceiling struct {
	user, agent func(q resources.Question) (resources.Decision, error)
	asked       []resources.Question
}

// actedFor is an edge whose caller has this client, below the ceiling. Policy allows the user everything.
func actedFor(c *ceiling, client *resources.Client) func(*gateway.Config) {
	return func(cfg *gateway.Config) {
		cfg.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			p, err := alice(ctx, token)
			p.Client = client
			return p, err
		}}
		cfg.Judge.Facts = facts{func(_ context.Context, account, user, _ string) (resources.Facts, error) {
			return resources.Facts{
				Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: user},
				Agent: &resources.Subject{AccountID: account, UserID: "agent-a-v1", UserExists: true, UserStatus: resources.StatusActive},
			}, nil
		}}
		cfg.Judge.Pin = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			switch {
			case q.Agent != nil:
				c.asked = append(c.asked, q)
				return c.user(q)
			case q.SubjectID == "agent-a-v1":
				return c.agent(q)
			}
			return allow(ctx, q)
		}, allow}.pin()
	}
}

func says(d resources.Decision, err error) func(resources.Question) (resources.Decision, error) {
	return func(resources.Question) (resources.Decision, error) { return d, err }
}

var (
	yes = says(resources.Decision{Allowed: true, Reason: "a test says so", PolicyRevision: "rev-1"}, nil)
	no  = says(resources.Decision{Reason: "the agent is suspended", Code: "needs_active_agent"}, nil)
)

// agentCalls are calls of every kind that need a caller. status is without an agent.
var agentCalls = map[string]struct {
	raw           string
	status        int
	action, place string
}{
	"a handler":          {request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer), 200, "account:role:read", "acct-a-v1/"},
	"a place":            {request("POST", "/api/v1/projects/proj-a-v1/walls", "{}", bearer, jsonType), 200, "project:wall:create", "acct-a-v1/proj-a-v1"},
	"an upstream":        {request("GET", "/api/v1/projects/proj-a-v1/things/x", "", bearer), 503, "project:thing:read", "acct-a-v1/proj-a-v1"},
	"a question":         {question("accounts/acct-a-v1/x"), 200, "account:authorization:check", "acct-a-v1/"},
	"of a proxy, path":   {request("POST", "/verify/api/v1/projects/proj-a-v1/walls", "", bearer), 200, "project:wall:create", "acct-a-v1/proj-a-v1"},
	"of a proxy":         {request("GET", "/forward-auth", "", bearer, "X-Original-Method: GET", "X-Original-URI: /api/v1/accounts/acct-a-v1/roles"), 200, "account:role:read", "acct-a-v1/"},
	"no action":          {request("PUT", "/api/v1/users/user-alice-v1", "{}", bearer, jsonType), 200, "", ""},
	"no action, a proxy": {request("PUT", "/verify/api/v1/users/user-alice-v1", "", bearer), 200, "", ""},
}

// TestAnAgentsCallIsHeldToItsCeiling guarantees questions about the user and about the agent, in the place of the call. A
// denial or a failure of either refuses it. A call without an action is refused.
func TestAnAgentsCallIsHeldToItsCeiling(t *testing.T) {
	failed := says(resources.Decision{Allowed: true}, errInside)
	for name, call := range agentCalls {
		for kind, c := range map[string]struct {
			ceiling
			status int
			text   string
		}{
			"both may":      {ceiling{user: yes, agent: yes}, call.status, ""},
			"no delegation": {ceiling{user: no, agent: yes}, 403, "your agent may not do " + call.action + " for you: the agent is suspended"},
			"no role":       {ceiling{user: yes, agent: no}, 403, "your agent may not do " + call.action + " for you: no active role of the agent grants the action"},
			"user fails":    {ceiling{user: failed, agent: yes}, 503, ""},
			"agent fails":   {ceiling{user: yes, agent: failed}, 503, ""},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				e := start(t, asking, actedFor(&c.ceiling, actor()))
				r := e.send(t, call.raw)
				if call.action == "" {
					c.status, c.text = 403, "an agent can't make this call"
				}
				if r.Status != c.status || !strings.Contains(r.Body, c.text) {
					t.Errorf("%d %s, want %d", r.Status, r.Body, c.status)
				}
				if last := e.last(t); last.Allowed && r.Status != call.status || r.Status == 403 && call.action != "" && (last.DecisionID == "" || last.DecisionID != r.Header.Get("X-Decision-ID")) {
					t.Errorf("recorded %+v, answered %v", last, r.Header)
				}
				if call.action == "" {
					return
				}
				if len(c.asked) == 0 {
					t.Fatal("nothing is asked about the agent")
				}
				q := c.asked[0]
				ref := q.Agent.Ref.Client
				if q.Action.ID != call.action || q.AccountID+"/"+q.Target.ProjectID != call.place || q.SubjectID != "user-alice-v1" ||
					ref != (resources.AgentClient{Issuer: "https://login.example", ClientID: "helper"}) || q.Agent.Any || q.Agent.Consented {
					t.Errorf("asked %+v about %+v", q, q.Agent)
				}
			})
		}
	}
}

// TestOnlyAnActorIsHeldToAnAgentsCeiling guarantees that a user's own token has no ceiling: also one of a client, and one of
// the operator's own application.
func TestOnlyAnActorIsHeldToAnAgentsCeiling(t *testing.T) {
	trusted := actor()
	trusted.Own = true
	for name, client := range map[string]*resources.Client{
		"a key": nil, "no client": {Issuer: "https://login.example"}, "a client": {Issuer: "https://login.example", ID: "helper"}, "an own application": trusted,
	} {
		e := start(t, asking, actedFor(&ceiling{user: no, agent: no}, client))
		for call, c := range agentCalls {
			if r := e.send(t, c.raw); r.Status != c.status {
				t.Errorf("%s, %s: %d %s", name, call, r.Status, r.Body)
			}
		}
	}
	malformed := start(t, asking, actedFor(&ceiling{user: no, agent: no}, &resources.Client{Issuer: "https://login.example", Actors: []string{""}}))
	for call, c := range agentCalls {
		if r := malformed.send(t, c.raw); r.Status != 403 {
			t.Errorf("malformed, %s: %d %s", call, r.Status, r.Body)
		}
	}
	if r := malformed.send(t, request("POST", "/public", "{}", bearer, jsonType)); r.Status != 200 {
		t.Errorf("a public row: %d %s", r.Status, r.Body)
	}
}

// TestEnvoysCallOfAnAgentIsHeldToItsCeiling guarantees the same for calls about which Envoy asks.
func TestEnvoysCallOfAnAgentIsHeldToItsCeiling(t *testing.T) {
	for path, want := range map[string]map[string]bool{"/widgets/w": {"yes": true, "no": false}, "/widgets": {"yes": true, "no": true}} {
		for kind, allowed := range want {
			c := &ceiling{user: yes, agent: map[string]func(resources.Question) (resources.Decision, error){"yes": yes, "no": no}[kind]}
			e := start(t, external, actedFor(c, actor()))
			got, err := e.Foreign(t.Context(), envoy(path, heads{}))
			if (err == nil) != allowed || err != nil && !resources.IsKind(err, resources.KindForbidden) || (len(got.Headers) > 0) != allowed {
				t.Errorf("%s, %s: %+v, %v", path, kind, got, err)
			}
			if r := e.last(t); r.Allowed != allowed {
				t.Errorf("%s, %s: recorded %+v", path, kind, r)
			}
		}
	}
}

// TestAWaitingAgentIsHeldAnew guarantees that an agent gets nothing after its ceiling has sunk, though its user's own
// verdict stays as it is.
func TestAWaitingAgentIsHeldAnew(t *testing.T) {
	for want, then := range map[int]func(resources.Question) (resources.Decision, error){403: no, 503: says(resources.Decision{}, errors.New("down"))} {
		var sunk atomic.Bool
		c := &ceiling{user: yes, agent: func(q resources.Question) (resources.Decision, error) {
			if sunk.Load() {
				return then(q)
			}
			return yes(q)
		}}
		e, _, each := waiting(t, 1000, 5*time.Second, actedFor(c, actor()))
		done := make(chan reply, 1)
		go func() { done <- e.overTCP(t).send(t, listRequest) }()
		<-each
		<-each
		sunk.Store(true)
		if got := <-done; got.Status != want || strings.Contains(got.Body, "asked") {
			t.Errorf("%d %s, want %d", got.Status, got.Body, want)
		}
	}
}

// TestAWaitOfAnAgentIsRecordedOnce: the verdict on the call, on the user with the agent, and on the agent.
func TestAWaitOfAnAgentIsRecordedOnce(t *testing.T) {
	log := &verdicts{}
	e, _, _ := waiting(t, 3, time.Minute, actedFor(&ceiling{user: yes, agent: yes}, actor()), func(c *gateway.Config) { c.Judge.Log = log })
	if got := e.overTCP(t).send(t, listRequest); got.Status != 200 || len(log.allowed) != 3 {
		t.Errorf("%d %s, recorded %v", got.Status, got.Body, log.allowed)
	}
}

// TestAProtectedDoorJudgesAgentsItself guarantees that the edge leaves them to it.
func TestAProtectedDoorJudgesAgentsItself(t *testing.T) {
	c := &ceiling{user: no, agent: no}
	e := protected(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		if !call.Caller.Client.HasActor() {
			t.Errorf("%+v", call.Caller)
		}
		return doors.Answer{Status: 200, Body: []byte("{}")}, nil
	}, actedFor(c, actor()))
	if r := e.send(t, request("POST", "/mcp/github", "{}", bearer, jsonType)); r.Status != 200 || len(c.asked) > 0 {
		t.Errorf("%d %s, asked %v", r.Status, r.Body, c.asked)
	}
}
