package demo

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	agentID   = "agent-assistant-v1"
	agentRole = "role-help-desk-v1"
	// Client is how tokens name the agent.
	Client = "assistant"
)

// fillAgent makes the demo's agent with its role, and the delegations to it. It does nothing if the agent is there, or
// if something of the operator's has a name of it.
func (d Data) fillAgent(ctx context.Context) error {
	err := d.Store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, Account); err != nil {
			return err
		}
		if _, err := d.Collections.Agents.Get(ctx, tx, agentID); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return d.insertAgent(ctx, tx)
	})
	if _, taken := errors.AsType[*store.DuplicateError](err); taken || resources.IsKind(err, resources.KindConflict) {
		return nil
	}
	return err
}

// insertAgent inserts the agent. It may search tickets for Bob, and close them for Alice, too.
func (d Data) insertAgent(ctx context.Context, tx store.Tx) error {
	now, client := resources.At(time.Now()), resources.AgentClient{Issuer: authn.BuiltinIssuer, ClientID: Client}
	agent := resources.Agent{
		ID: agentID, AccountID: Account, Name: "Assistant", Status: resources.StatusActive,
		Clients: []resources.AgentClient{client}, CreatedAt: now, UpdatedAt: now,
	}
	role := resources.Role{
		ID: agentRole, AccountID: Account, Name: "Help desk", Scope: resources.RoleScopeProject, Status: resources.StatusActive, IsCustom: true,
		Permissions: []string{"project:ticket:read", "project:ticket:close"}, CreatedBy: Alice, CreatedAt: now, UpdatedAt: now,
	}
	held := resources.Assignment{
		AccountID: Account, RoleID: role.ID, RoleScope: role.Scope, AssigneeType: resources.AssigneeAgent, AssigneeID: agent.ID,
		ProjectID: Project, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	held.ID = records.AssignmentID(held)
	delegation := func(user string, permissions ...string) resources.Delegation {
		return resources.Delegation{
			AccountID: Account, UserID: user, AgentID: agent.ID, Permissions: permissions, ProjectID: Project, CreatedAt: now, UpdatedAt: now,
		}
	}
	c := d.Collections
	return errors.Join(
		c.SetAgentClients(ctx, tx, agent, agent.Clients),
		c.Agents.Insert(ctx, tx, agent),
		c.Roles.Insert(ctx, tx, role),
		c.Assignments.Insert(ctx, tx, held),
		c.Delegations.Insert(ctx, tx, delegation(Bob, "project:ticket:read")),
		c.Delegations.Insert(ctx, tx, delegation(Alice, "project:ticket:read", "project:ticket:close")))
}
