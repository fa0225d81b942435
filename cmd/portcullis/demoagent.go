package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The demo's agent.
const (
	demoAgent     = "agent-assistant-v1"
	demoAgentRole = "role-help-desk-v1"
	// demoClient is how tokens name the agent.
	demoClient = "assistant"
	// demoAgentTokenFile has the token of Bob's agent, in the data folder.
	demoAgentTokenFile = "demo-agent.token"
)

// fillAgent makes the demo's agent with its role, and the delegations to it. It does nothing if the agent is there, or
// if something of the operator's has a name of it.
func (a *app) fillAgent(ctx context.Context) error {
	err := a.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, demoAccount); err != nil {
			return err
		}
		if _, err := a.collections.Agents.Get(ctx, tx, demoAgent); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return a.insertAgent(ctx, tx)
	})
	if _, taken := errors.AsType[*store.DuplicateError](err); taken || resources.IsKind(err, resources.KindConflict) {
		return nil
	}
	return err
}

// insertAgent inserts the agent. It may search tickets for Bob, and close them for Alice, too.
func (a *app) insertAgent(ctx context.Context, tx store.Tx) error {
	now, client := resources.At(time.Now()), resources.AgentClient{Issuer: authn.BuiltinIssuer, ClientID: demoClient}
	agent := resources.Agent{
		ID: demoAgent, AccountID: demoAccount, Name: "Assistant", Status: resources.StatusActive,
		Clients: []resources.AgentClient{client}, CreatedAt: now, UpdatedAt: now,
	}
	role := resources.Role{
		ID: demoAgentRole, AccountID: demoAccount, Name: "Help desk", Scope: resources.RoleScopeProject, Status: resources.StatusActive, IsCustom: true,
		Permissions: []string{"project:ticket:read", "project:ticket:close"}, CreatedBy: demoAlice, CreatedAt: now, UpdatedAt: now,
	}
	held := resources.Assignment{
		AccountID: demoAccount, RoleID: role.ID, RoleScope: role.Scope, AssigneeType: resources.AssigneeAgent, AssigneeID: agent.ID,
		ProjectID: demoProject, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	held.ID = records.AssignmentID(held)
	delegation := func(user string, permissions ...string) resources.Delegation {
		return resources.Delegation{
			AccountID: demoAccount, UserID: user, AgentID: agent.ID, Permissions: permissions, ProjectID: demoProject, CreatedAt: now, UpdatedAt: now,
		}
	}
	c := a.collections
	return errors.Join(
		c.SetAgentClients(ctx, tx, agent, agent.Clients),
		c.Agents.Insert(ctx, tx, agent),
		c.Roles.Insert(ctx, tx, role),
		c.Assignments.Insert(ctx, tx, held),
		c.Delegations.Insert(ctx, tx, delegation(demoBob, "project:ticket:read")),
		c.Delegations.Insert(ctx, tx, delegation(demoAlice, "project:ticket:read", "project:ticket:close")))
}

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
func (d *demoDesk) serve(a *app, open listeners, demo bool) {
	if d == nil || !demo {
		d.close()
		return
	}
	edge, path := "http://"+reachable(open.edge[0].Addr()), "/mcp/projects/"+demoProject+"/"+tickets.Name
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
		Subject: demoBob, Agent: demoClient, Audience: d.audience, Scopes: []string{resources.MCPScopeRead, resources.MCPScopeWrite}, TTL: demoTTL,
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
