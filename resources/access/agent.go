package access

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxAgentClients bounds the clients of an agent.
const maxAgentClients = 20

// agentRoutes returns the handlers of agents, delegations and approvals.
func (s *Service) agentRoutes() wire.Routes {
	return wire.Named("access", wire.Routes{
		"agent.create":      s.Idempotency.Create("agent.create", s.createAgent),
		"agent.list":        s.listAgents,
		"agent.get":         s.getAgent,
		"agent.update":      s.updateAgent,
		"agent.delete":      s.deleteAgent,
		"delegation.put":    s.putDelegation,
		"delegation.list":   s.listDelegations,
		"delegation.get":    s.getDelegation,
		"delegation.delete": s.deleteDelegation,
		"approval.list":     s.listApprovals,
		"approval.get":      s.getApproval,
		"approval.update":   s.updateApproval,
	})
}

// agentBody is the response with one agent.
type agentBody struct {
	Agent resources.Agent `json:"agent"`
}

// agentList is the response of agent.list.
type agentList struct {
	Agents []resources.Agent `json:"agents"`
	listMeta
}

// createAgent answers agent.create (N25).
func (s *Service) createAgent(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	agent := resources.Agent{AccountID: r.Params["accountId"], Name: requiredName(body, &p), Clients: readClients(body)}
	agent.Status = body.OneOf("status", resources.StatusActive, resources.AgentStatuses()...)
	body.Done()
	if err := p.Err(); err != nil {
		return nil, err
	}
	agent.ID, agent.CreatedAt = s.IDs.New(resources.PrefixAgent), s.now()
	agent.UpdatedAt = agent.CreatedAt
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if _, err := s.beginChange(ctx, tx, r, "account:agent:create"); err != nil {
			return wire.Response{}, err
		}
		if err := s.c.SetAgentClients(ctx, tx, agent, agent.Clients); err != nil {
			return wire.Response{}, err
		}
		if err := agentConflict(s.c.Agents.Insert(ctx, tx, agent)); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(agentBody{agent})
	}, nil
}

// readClients reads 0 to maxAgentClients different clients. It returns an empty list for none.
func readClients(body *wire.Object) []resources.AgentClient {
	items, more, _ := body.Objects("clients", maxAgentClients)
	if more {
		body.Add("clients", "must have at most %d items", maxAgentClients)
	}
	out := make([]resources.AgentClient, 0, len(items))
	for i, item := range items {
		if item == nil {
			continue
		}
		client := resources.AgentClient{Issuer: item.Required("issuer"), ClientID: item.Required("client_id")}
		item.Done()
		switch {
		case client.Issuer == "" || client.ClientID == "":
		case !client.Valid():
			body.Add(indexed("clients", i), resources.AgentClientRule)
		case slices.Contains(out, client):
			body.Add(indexed("clients", i), "is the same as %s", indexed("clients", slices.Index(out, client)))
		}
		out = append(out, client)
	}
	return out
}

// listAgents answers agent.list (N25), in the order of creation.
func (s *Service) listAgents(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["accountId"]
	agents, page, err := listByToken(ctx, s, r, s.c.Agents, listing{
		query:   store.Query{Index: records.ByAccount, Equal: []store.Value{store.String(account)}},
		binding: binding("agent.list", account),
	})
	return wire.Answer(agentList{agents, page}, err)
}

// getAgent answers agent.get (N25).
func (s *Service) getAgent(ctx context.Context, r *wire.Request) (wire.Response, error) {
	return read(ctx, s, r, s.pathAgent, func(one resources.Agent) any { return agentBody{one} })
}

// agentUpdate is the body of agent.update. An absent field leaves the agent's as it is.
type agentUpdate struct {
	problems     wire.Problems
	name, status string
	clients      []resources.AgentClient
	moved        bool // has clients
}

func readAgentUpdate(r *wire.Request) *agentUpdate {
	u := &agentUpdate{}
	noQuery(r, &u.problems)
	body := r.ParseObject(&u.problems)
	u.status, u.clients, u.moved = body.OneOf("status", "", resources.AgentStatuses()...), readClients(body), body.Has("clients")
	renamed := body.Has("name")
	if renamed {
		u.name = requiredName(body, &u.problems)
	}
	if !renamed && !u.moved && u.status == "" {
		u.problems.Add("", "name, status or clients is needed")
	}
	body.Done()
	return u
}

// applied returns the agent after the update.
func (u *agentUpdate) applied(agent resources.Agent) resources.Agent {
	agent.Name, agent.Status = cmp.Or(u.name, agent.Name), cmp.Or(u.status, agent.Status)
	if u.moved {
		agent.Clients = u.clients
	}
	return agent
}

// gives reports whether the update lets somebody act with the agent's roles: a new client, or all clients of an agent
// that is active again. An agent can act alone.
func (u *agentUpdate) gives(before resources.Agent) bool {
	return u.moved || u.status == resources.StatusActive && before.Status != u.status
}

// updateAgent answers agent.update (N25). It changes the sent fields.
func (s *Service) updateAgent(ctx context.Context, r *wire.Request) (wire.Response, error) {
	update := readAgentUpdate(r)
	var updated resources.Agent
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		actor, err := s.beginChange(ctx, tx, r, "account:agent:update")
		if err != nil {
			return err
		}
		rec, err := s.pathAgent(ctx, tx, r)
		if invalid := update.problems.Err(); invalid != nil && (err == nil || resources.IsKind(err, resources.KindNotFound)) {
			return invalid
		}
		if err != nil {
			return err
		}
		if update.gives(rec.Value) {
			if err := s.mayShare(ctx, tx, r.Principal, actor, rec.Value.AccountID, resources.AssigneeAgent, rec.Value.ID); err != nil {
				return err
			}
		}
		updated = update.applied(rec.Value)
		if err := s.c.SetAgentClients(ctx, tx, rec.Value, updated.Clients); err != nil {
			return err
		}
		updated.UpdatedAt = s.now()
		rec.Value = updated
		return agentConflict(s.c.Agents.Replace(ctx, tx, rec))
	})
	return wire.Answer(agentBody{updated}, err)
}

// deleteAgent answers agent.delete (N25). It deletes the agent's assignments and the delegations to it too.
func (s *Service) deleteAgent(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if _, err := s.beginChange(ctx, tx, r, "account:agent:delete"); err != nil {
			return err
		}
		rec, err := s.pathAgent(ctx, tx, r)
		if err != nil {
			return err
		}
		return s.c.DeleteAgent(ctx, tx, rec)
	})
	return done("The agent was deleted.", err)
}

// pathAgent reads the agent in the path; 404 if the path's account does not have it.
func (s *Service) pathAgent(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.Agent], error) {
	rec, err := s.c.Agents.Get(ctx, tx, r.Params["agentId"])
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Value.AccountID != r.Params["accountId"] {
		return store.Record[resources.Agent]{}, resources.NotFound("agent")
	}
	return rec, err
}

// agentConflict returns the error of a write, with a conflict in place of a duplicate name.
func agentConflict(err error) error {
	if store.IsDuplicate(err, records.ByName) {
		return resources.Conflict("Another agent of the account has this name.")
	}
	return err
}
