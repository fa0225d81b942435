package mcp_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// tree allows everything but what its server lacks.
type tree struct {
	verdict.Tree
	server *resources.MCPServer
	// argued is the verdict on arguments, nil allows them.
	argued func(*resources.ToolCall) (resources.ArgumentsVerdict, error)
}

func (t tree) Arguments(_ context.Context, call *resources.ToolCall) (resources.ArgumentsVerdict, error) {
	if t.argued == nil {
		return resources.ArgumentsVerdict{Allowed: true}, nil
	}
	return t.argued(call)
}

func (tree) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true, Code: "role", PolicyRevision: "rev"}, nil
}

func (t tree) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return t.Decide(ctx, q)
}
func (tree) AccessByUser(string) bool                              { return false }
func (tree) Revision() string                                      { return "rev" }
func (t tree) MCPServer(string) *resources.MCPServer               { return t.server }
func (tree) App(string) (app resources.App, ok bool)               { return app, false }
func (tree) Granting(resources.Action) (roles []string)            { return nil }
func (tree) Homes(context.Context, []string) (_ []string, _ error) { return nil, nil }

func (tree) FactsOf(_ context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	for i, pair := range pairs {
		facts[i] = resources.Facts{Revision: 7, ProjectState: resources.ProjectActive, Subject: &resources.Subject{AccountID: account, UserID: pair.UserID}}
	}
	return nil
}

func (t tree) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	facts := make([]resources.Facts, 1)
	return facts[0], t.FactsOf(ctx, account, []resources.About{{UserID: user, ProjectID: project}}, facts)
}

// recorder keeps records, and fails for those of a path.
type recorder struct {
	fails string
	all   []*resources.Judgement
}

func (r *recorder) Record(_ context.Context, all ...*resources.Judgement) error {
	for _, one := range all {
		if one.Path == r.fails {
			return errors.New("the disk is full")
		}
		r.all = append(r.all, one)
	}
	return nil
}

// exchange is the rest of a call.
type exchange struct {
	http.Header
	ctx context.Context
}

func (exchange) Identity(string) (value, problem string) { return "", "" }
func (x exchange) Values(name string) (values []string, odd bool) {
	return x.Header.Values(name), false
}
func (exchange) Charge(int) error                     { return nil }
func (exchange) Owe(int)                              {}
func (x exchange) Open(bool) (context.Context, error) { return x.ctx, nil }

// desk is a door in front of a server, and what it has sent.
type desk struct {
	*mcp.Door
	records *recorder
	sent    int
	policy  *tree
}

func newDesk(t *testing.T, fails string) *desk {
	t.Helper()
	server := &resources.MCPServer{
		Name: "desk", Agents: resources.MCPAgentsAny, Consent: resources.MCPConsentNotRequired, Pin: resources.MCPPinNames,
		Tools: map[string]resources.MCPTool{"open": {Action: "project:desk:open", Effect: resources.EffectRead}},
	}
	sealed, err := message.NewIDs([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{records: &recorder{fails: fails}}
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	policy := &tree{server: server}
	d.policy = policy
	d.Door = &mcp.Door{
		Judge:   &verdict.Judge{Pin: func() verdict.Tree { return policy }, Facts: policy, IDs: ids, Now: time.Now, Log: d.records},
		Records: d.records, Base: "https://gateway.example", Sealed: sealed, IDs: ids, Log: slog.New(slog.DiscardHandler),
		Pins: &mcp.Pins{Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		Send: func(context.Context, mcp.Outgoing) (*mcp.Incoming, error) {
			d.sent++
			body := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
			return &mcp.Incoming{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		},
	}
	return d
}

// call calls a tool, and returns the body of the answer.
func (d *desk) call(t *testing.T, tool string) (answer string) {
	t.Helper()
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"key":"value"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	x := exchange{ctx: t.Context(), Header: http.Header{
		"Content-Type": {"application/json"}, http.CanonicalHeaderKey(message.HeaderVersion): {message.VersionModern},
		http.CanonicalHeaderKey(message.HeaderMethod): {"tools/call"}, http.CanonicalHeaderKey(message.HeaderName): {tool},
	}}
	a, err := d.ask(t, http.MethodPost, x, body)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Body)
}

// ask makes a call of a user.
func (d *desk) ask(t *testing.T, method string, x exchange, body []byte) (doors.Answer, error) {
	t.Helper()
	row, err := route.NewRow(resources.Route{Name: "mcp.call", Method: "*", Path: "/mcp/{proxy+}", Access: []string{"asks_self"}})
	if err != nil {
		t.Fatal(err)
	}
	caller := &resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", AccountID: "acct-a-v1", Client: &resources.Client{Scopes: []string{resources.MCPScopeRead}}}
	return d.Answer(t.Context(), doors.Call{
		Caller: caller, Row: row, Method: method, Path: "projects/proj-a-v1/desk", Headers: x, Rates: x, Streams: x, Body: body,
	})
}

// TestNoCallIsSentWithoutItsRecord guarantees that the server gets no call, and the client no denial, without a record. An
// answer needs no record of the outcome.
func TestNoCallIsSentWithoutItsRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails, tool, says string
		sent              int
	}{
		{"", "open", `"result"`, 1},
		{"", "other", "-32001", 0},
		{resources.PathDecision, "open", "-32603", 0},
		{resources.PathMCPCall, "open", "-32603", 0},
		{resources.PathMCPCall, "other", "-32603", 0},
		{resources.PathMCPOutcome, "open", `"result"`, 1},
	} {
		d := newDesk(t, c.fails)
		if answer := d.call(t, c.tool); !strings.Contains(answer, c.says) || d.sent != c.sent {
			t.Errorf("the log does not take %q, %s: %s; %d calls were sent", c.fails, c.tool, answer, d.sent)
		}
	}
}

// TestALongNameIsCut guarantees that a record has at most a kilobyte of a client's name for a tool.
func TestALongNameIsCut(t *testing.T) {
	t.Parallel()
	d, tool := newDesk(t, ""), strings.Repeat("long-name-", 10_000)
	d.call(t, tool)
	name := d.records.all[len(d.records.all)-1].Call.Name
	if start, cut := strings.CutSuffix(name, "…"); !cut || len(start) > 1<<10 || len(start) < 1000 || !strings.HasPrefix(tool, start) {
		t.Errorf("%d bytes: %.40s", len(name), name)
	}
}

// TestOnlyPOSTHasAMessage guarantees that a server gets no body beside GET and DELETE: the door judges none there.
func TestOnlyPOSTHasAMessage(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		d := newDesk(t, "")
		session := d.Sealed.Seal(message.SessionID, "s", message.Caller{Server: "desk", Account: "acct-a-v1", User: "user-bob-v1", Agent: "\n"})
		x := exchange{ctx: t.Context(), Header: http.Header{message.HeaderSession: {session}}}
		_, err := d.ask(t, method, x, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`))
		if !resources.IsKind(err, resources.KindBadRequest) || d.sent != 0 {
			t.Errorf("%s with a body: %v; %d calls were sent", method, err, d.sent)
		}
		if _, _ = d.ask(t, method, x, nil); d.sent != 1 {
			t.Errorf("%s: %d calls were sent", method, d.sent)
		}
	}
}
