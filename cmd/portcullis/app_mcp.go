package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/own"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/approvals"
)

// mcpAnswerWithin bounds the wait for the head of an MCP server's answer: a tool takes its time.
const mcpAnswerWithin = 5 * time.Minute

// newMCP makes the door of MCP servers.
func (a *app) newMCP() (*mcp.Door, error) {
	sealed, err := message.NewIDs(a.master.Derive(resources.PurposeMCP))
	if err != nil {
		return nil, err
	}
	limits, peers := a.settings.Limits.Edge, map[string]*peer.Upstream{}
	for name, base := range a.settings.Areas.Upstreams() {
		peers[name] = peer.NewUpstream(name, base, limits.Upstream, limits.Idle, a.assertions)
	}
	if a.mcpCredentials, err = newMCPCredentials(a.settings.MCP); err != nil {
		return nil, err
	}
	inside := func(ctx context.Context, c *doors.Inside) doors.InsideAnswer { return a.edge.Inside(ctx, c) }
	portcullis := own.New(version(), inside, a.log.Logger)
	send := func(ctx context.Context, o mcp.Outgoing) (*mcp.Incoming, error) {
		if o.Server.Upstream == resources.UpstreamPortcullis {
			return portcullis.Send(ctx, o)
		}
		return sendMCP(ctx, peers[o.Server.Upstream], a.mcpCredentials, o)
	}
	lister := &mcp.Lister{Send: send, IDs: a.ids}
	pins := &mcp.Pins{List: lister.List, Servers: a.pinnedServers, Now: time.Now, Log: a.log.Logger}
	return &mcp.Door{
		Judge: a.judge, Authenticate: a.state.authenticator.AuthenticateFor, Base: a.settings.Listeners.PublicURL, Send: send, Sealed: sealed, IDs: a.ids, Log: a.log.Logger, Records: a.recordTo(),
		Approvals: &approvals.Service{Store: a.store, Collections: a.collections, IDs: a.ids},
		Pins:      pins, Observe: a.metrics.WatchMCP(pins, mcp.Outcomes()...),
	}, nil
}

// mcpServers returns the servers of a tree.
func mcpServers(tree *engine.Pinned) (all []*resources.MCPServer) {
	for _, name := range tree.MCPServers() {
		all = append(all, tree.MCPServer(name))
	}
	return all
}

// sendMCP passes a message to a server.
func sendMCP(ctx context.Context, upstream *peer.Upstream, credentials mcpCredentials, o mcp.Outgoing) (*mcp.Incoming, error) {
	if upstream == nil {
		return nil, resources.Unavailable("no --upstream has the name "+o.Server.Upstream, nil)
	}
	credential, err := credentials.credential(ctx, o)
	if err != nil {
		return nil, err
	}
	answer, err := upstream.Pass(ctx, peer.Call{
		Statement: o.Statement, Header: map[string][]string{"Content-Type": {"application/json"}}, Further: o.Header,
		Credential: credential, Head: mcpAnswerWithin, Silent: o.Endless,
	})
	if err != nil {
		return nil, err
	}
	if answer.Status == http.StatusUnauthorized {
		credentials.refused(o)
	}
	return &mcp.Incoming{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
}

// edgeUpstreams returns the upstreams but for those that MCP servers alone name.
func (a *app) edgeUpstreams() map[string]*url.URL {
	all, routes, servers := a.settings.Areas.Upstreams(), a.policy.Routes(), mcpServers(a.policy.Pin())
	for name := range all {
		routed := slices.ContainsFunc(routes, func(r resources.Route) bool { return r.Upstream == name })
		if !routed && slices.ContainsFunc(servers, func(s *resources.MCPServer) bool { return s.Upstream == name }) {
			delete(all, name)
		}
	}
	return all
}

// pinnedServers returns the servers whose tools are listed: none while the door is off.
func (a *app) pinnedServers() []*resources.MCPServer {
	if a.mcp == nil || a.mcp.Base == "" {
		return nil
	}
	return mcpServers(a.policy.Pin())
}

// warnMCP logs the servers of the policy in force that the settings do not reach. The program's own tree and a process behind
// gateways may do without the door.
func (a *app) warnMCP() {
	if a.mcp == nil || a.mcp.Base == "" && a.settings.Policy.Shipped() {
		return
	}
	upstreams := a.settings.Areas.Upstreams()
	for _, s := range mcpServers(a.policy.Pin()) {
		if s.Upstream == resources.UpstreamPortcullis {
			continue
		}
		missing := a.mcpCredentials.missing(s)
		switch {
		case a.mcp.Base == "":
			missing = "without --public-url the door of MCP servers is off"
		case upstreams[s.Upstream] == nil:
			missing = "no --upstream has the name " + s.Upstream
		}
		if missing != "" {
			a.log.Warn("mcp: no call of a server can be answered", "server", s.Name, "error", missing)
		}
	}
}
