package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// demoAgentTokenFile has the token of Bob's agent, in the data folder.
const demoAgentTokenFile = "demo-agent.token"

// demoDesk is the MCP server of the demo. Without one it is nil.
type demoDesk struct {
	listener net.Listener
	server   *http.Server
	// url is the server's at the gateway, audience that of its tokens.
	url, audience string
}

// openDesk opens the listener of the demo's MCP server and makes it an upstream. It returns nil if the operator has a
// tree or an upstream of their own: the demo adds no row to an operator's tree.
func openDesk(ctx context.Context, settings *config.Config) (*demoDesk, error) {
	if !settings.Demo || !settings.Policy.Shipped() || settings.Areas.Upstreams()[tickets.Name] != nil {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("--demo: %w", err)
	}
	settings.Areas.AddUpstream(tickets.Name, "http://"+l.Addr().String()+"/mcp")
	limits := settings.Limits.Edge
	return &demoDesk{listener: l, server: &http.Server{ReadHeaderTimeout: limits.Read, ReadTimeout: limits.Read, IdleTimeout: limits.Idle}}, nil
}

// serve answers the gateway's calls, and turns the gateway's door of MCP servers on. Without demo data it closes the
// server.
func (d *demoDesk) serve(a *app, open listeners, hasDemo bool) {
	if d == nil || !hasDemo {
		d.close()
		return
	}
	edge, path := "http://"+reachable(open.edge[0].Addr()), "/mcp/projects/"+demo.Project+"/"+tickets.Name
	if a.mcp.Base == "" {
		a.mcp.Base = edge
	}
	d.url, d.audience = edge+path, a.mcp.Base+path
	d.server.Handler = tickets.Handler(a.assertions)
	go func() { _ = d.server.Serve(d.listener) }() // until close
}

func (d *demoDesk) close() {
	if d != nil {
		_ = d.listener.Close() // nobody waits for it
		_ = d.server.Close()
	}
}

// agentLines returns how to try the demo's agent.
func (a *app) agentLines(d *demoDesk) ([]string, error) {
	if d == nil {
		return nil, nil
	}
	_, path, err := a.writeDemoToken(demoAgentTokenFile, authn.TokenRequest{
		Subject: demo.Bob, Agent: demo.Client, Audience: d.audience, Scopes: []string{resources.MCPScopeRead, resources.MCPScopeWrite}, TTL: demoTTL,
	})
	if err != nil {
		return nil, err
	}
	return []string{
		"",
		"# An agent acts for bob at an MCP server with tickets: the tools that it may use. docs/integrate/agents.md calls them.",
		strings.Join([]string{
			"curl -s -w '\\n' " + d.url, `-H "Authorization: Bearer $(cat ` + path + `)"`, `-H "Content-Type: application/json"`,
			`-H "Accept: application/json, text/event-stream"`, `-d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'`,
		}, " "),
	}, nil
}
