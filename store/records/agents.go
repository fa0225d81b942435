package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// AgentClient names the agent of a client in an account.
type AgentClient struct {
	// ID is a hash of the account and the client.
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	AgentID   string `json:"agent_id"`
}

// AgentClientID returns the key of a client in an account. A client's texts can be long, and can have any character.
func AgentClientID(account string, client resources.AgentClient) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(client.Issuer)) + " " + client.Issuer + client.ClientID))
	return compositeKey(account, hex.EncodeToString(sum[:]))
}

// DelegationID returns the key of a delegation.
func DelegationID(account, user, agent string) string { return compositeKey(account, user, agent) }

func agents() store.Collection[resources.Agent] {
	return store.NewCollection(store.Schema{
		Name:    "agents",
		Columns: append(text("account", "name"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "name"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "created"}},
		},
	}, func(a *resources.Agent) string { return a.ID }, func(a *resources.Agent) []store.Value {
		return []store.Value{store.String(a.AccountID), store.String(a.Name), created(a.CreatedAt)}
	})
}

func agentClients() store.Collection[AgentClient] {
	return store.NewCollection(store.Schema{Name: "agent_clients"},
		func(c *AgentClient) string { return c.ID }, func(*AgentClient) []store.Value { return nil })
}

func delegations() store.Collection[resources.Delegation] {
	return store.NewCollection(store.Schema{
		Name:    "delegations",
		Columns: append(text("account", "user_id", "agent_id"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByUser, Columns: []string{"account", "user_id", "created"}},
			{Name: ByAgent, Columns: []string{"account", "agent_id", "created"}},
		},
	}, func(d *resources.Delegation) string { return DelegationID(d.AccountID, d.UserID, d.AgentID) },
		func(d *resources.Delegation) []store.Value {
			return []store.Value{store.String(d.AccountID), store.String(d.UserID), store.String(d.AgentID), created(d.CreatedAt)}
		})
}

// DeleteAgent deletes an agent with its clients, its assignments and the delegations to it, in the caller's transaction.
func (c Collections) DeleteAgent(ctx context.Context, tx store.Tx, rec store.Record[resources.Agent]) error {
	agent := rec.Value
	if err := c.SetAgentClients(ctx, tx, agent, nil); err != nil {
		return err
	}
	if err := c.Assignments.DeleteAll(ctx, tx, assignedTo(agent.AccountID, resources.AssigneeAgent, agent.ID)); err != nil {
		return err
	}
	delegated := store.Query{Index: ByAgent, Equal: []store.Value{store.String(agent.AccountID), store.String(agent.ID)}}
	if err := c.Delegations.DeleteAll(ctx, tx, delegated); err != nil {
		return err
	}
	return c.Agents.Delete(ctx, tx, rec)
}

// SetAgentClients replaces the clients of the agent by others. It returns CONFLICT if another agent of the account has
// one of them. It doesn't store the agent.
func (c Collections) SetAgentClients(ctx context.Context, tx store.Tx, agent resources.Agent, clients []resources.AgentClient) error {
	kept := map[string]bool{}
	for _, client := range clients {
		id := AgentClientID(agent.AccountID, client)
		kept[id] = true
		rec, err := store.Lookup(c.AgentClients.Get(ctx, tx, id))
		switch {
		case err != nil:
			return err
		case rec == nil:
			err = c.AgentClients.Insert(ctx, tx, AgentClient{ID: id, AccountID: agent.AccountID, AgentID: agent.ID})
		case rec.Value.AgentID != agent.ID:
			err = resources.Conflict("The agent %s of the account has the client %q of the issuer %q already.", rec.Value.AgentID, client.ClientID, client.Issuer)
		}
		if err != nil {
			return err
		}
	}
	for _, client := range agent.Clients {
		id := AgentClientID(agent.AccountID, client)
		if kept[id] {
			continue
		}
		rec, err := store.Lookup(c.AgentClients.Get(ctx, tx, id))
		if err != nil {
			return err
		}
		if rec != nil && rec.Value.AgentID == agent.ID {
			if err := c.AgentClients.Delete(ctx, tx, *rec); err != nil {
				return err
			}
		}
	}
	return nil
}
