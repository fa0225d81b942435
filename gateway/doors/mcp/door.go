package mcp

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Door handles calls to MCP servers. Records, Approvals, Console and Observe are optional.
type Door struct {
	Judge *verdict.Judge
	// Authenticate returns whose token for the audience the Authorization has, as the gateway does for a new call.
	Authenticate func(ctx context.Context, audience, agentsOf string, authorization []string) (resources.Principal, error)
	// Records takes a record of each judged call before the server gets the call, and of how it ended. nil records none.
	Records resources.DecisionLog
	// Approvals keeps approvals of single calls. With nil no call is approved.
	Approvals Approvals
	// Console is the console's URL for users, "" without a console.
	Console string
	// Base is the gateway's URL for clients (--public-url). An empty Base turns the door off.
	Base string
	// Send sends a message to a server. An error of KindForbidden denies the call: the server's credential was refused to
	// this caller.
	Send func(ctx context.Context, o Outgoing) (*Incoming, error)
	// Pins holds the current definitions of tools.
	Pins *Pins
	// Sealed seals the ids of sessions.
	Sealed message.IDs
	IDs    resources.IDs
	Log    *slog.Logger
	// Observe counts a call of a server by its outcome, one of Outcomes.
	Observe func(server, outcome string)

	held held
	// awaited has the ids of the requests for which calls wait.
	awaited sync.Map
}

// Outgoing is a call to a server.
type Outgoing struct {
	Server *resources.MCPServer
	assertion.Statement
	// Header holds the MCP headers.
	Header http.Header
	// Authorization holds the caller's credential, for an exchange. No server gets it. It is nil for the gateway itself.
	Authorization []string
	// Endless is true if the response may pause for any time.
	Endless bool
}

// Incoming is a server's response. The receiver closes Body.
type Incoming struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
}

// ResourceOf implements doors.Protected. Each form of a server's path is a separate resource.
func (d *Door) ResourceOf(rawPath string) doors.Resource {
	path, ok := strings.CutPrefix(rawPath, pathPrefix)
	if p, err := readPlace(path); ok && err == nil && d.Base != "" {
		out := doors.Resource{URL: d.Base + pathPrefix + p.path, Scopes: []string{resources.MCPScopeRead, resources.MCPScopeWrite}}
		if takesAgentsAlone(d.Judge.Pin().MCPServer(p.server)) {
			out.AgentsOf = p.account
		}
		return out
	}
	return doors.Resource{}
}

// takesAgentsAlone reports whether agents may call a server without a user. An unknown server takes nobody.
func takesAgentsAlone(s *resources.MCPServer) bool {
	return s != nil && s.Autonomous && (s.Agents == resources.MCPAgentsRegistered || s.Agents == resources.MCPAgentsAny)
}

// Answer implements doors.Door. Errors: 400, 403 for another origin and for scopes, 404 without a server or for another
// caller's session, 405, 415, 503.
func (d *Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	v, err := d.visit(c)
	if err != nil {
		return doors.Answer{}, err
	}
	a := doors.Answer{}
	switch c.Method {
	case http.MethodPost:
		a, err = v.post(ctx)
	case http.MethodGet:
		a, err = v.listen(ctx)
	case http.MethodDelete:
		a, err = v.end(ctx)
	default:
		err = &resources.Error{Kind: resources.KindMethodNotAllowed, Message: "An MCP server supports POST, GET and DELETE."}
	}
	a.Subject, a.Account = c.Caller.ID, v.account()
	return a, err
}

// visit validates the parts that every call has.
func (d *Door) visit(c doors.Call) (*visit, error) {
	p, err := readPlace(c.Path)
	if err != nil {
		return nil, err
	}
	problems, sent := c.Problems, map[string][]string{}
	for _, name := range []string{
		message.HeaderVersion, message.HeaderMethod, message.HeaderName, message.HeaderSession, message.HeaderLastEvent, "Origin", "Accept", "Content-Type",
	} {
		values, odd := c.Headers.Values(name)
		sent[name] = values
		ofMessage := name == message.HeaderVersion || name == message.HeaderMethod || name == message.HeaderName // message.Era reports their faults with a code
		if odd || len(values) > 1 && (c.Method != http.MethodPost || !ofMessage) {
			problems = append(problems, resources.Problem{Field: name, Text: "must be sent once, in one spelling, with hyphens"})
		}
	}
	if len(c.Body) > 0 && (c.Method == http.MethodGet || c.Method == http.MethodDelete) { // the server would get it unjudged
		problems = append(problems, resources.Problem{Field: "body", Text: "must be empty; messages are sent with POST"})
	}
	if len(problems) > 0 {
		return nil, resources.BadRequest(problems...)
	}
	if origins := sent["Origin"]; len(origins) > 0 && origins[0] != "" && origins[0] != d.origin() {
		return nil, resources.Forbidden("The header Origin must be absent or name this gateway, not %s.", origins[0])
	}
	judge := d.Judge.Pinned()
	server := judge.Pin().MCPServer(p.server)
	if server == nil {
		return nil, resources.NotFound("MCP server")
	}
	if c.Caller.Kind == resources.PrincipalAgent && (!takesAgentsAlone(server) || c.Caller.AccountID != p.account) { // the policy has changed since
		return nil, errBadToken()
	}
	return &visit{
		Door: d, call: c, sent: sent, authorization: authorizationOf(c), place: p, server: server, judge: judge, rejected: new(atomic.Bool),
	}, nil
}

// authorizationOf returns copies of the values of the caller's Authorization: a stream outlives the call's headers.
func authorizationOf(c doors.Call) (copies []string) {
	values, _ := c.Headers.Values("Authorization")
	for _, value := range values {
		copies = append(copies, strings.Clone(value))
	}
	return copies
}

// errBadToken is the answer to an expired token, and to an agent without a user at a door for users.
func errBadToken() error {
	return &resources.Error{Kind: resources.KindBadCredential, Message: "invalid or expired authentication token"}
}

// origin returns the origin of the gateway's own pages.
func (d *Door) origin() string {
	u, err := url.Parse(d.Base)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// rejudgeEvery is the interval at which the door judges an open stream again.
const rejudgeEvery = 500 * time.Millisecond
