package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// addAgents adds the facts about agents to those of the pairs with one.
func (r factsReader) addAgents(ctx context.Context, pairs []resources.About, facts []resources.Facts) error {
	var clients, ids []string
	for _, pair := range pairs {
		if pair.Agent.Named() && pair.Agent.ID == "" {
			clients = append(clients, AgentClientID(r.account, pair.Agent.Client))
		}
	}
	byClient, err := readThrough(r.cache, SharedClient, clients, func(keys []string) (map[string]string, error) {
		recs, err := r.AgentClients.GetAll(ctx, r.tx, keys)
		out := make(map[string]string, len(keys))
		for key, rec := range recs {
			out[key] = rec.Value.AgentID
		}
		return out, err
	})
	if err != nil {
		return err
	}
	named, delegated := make([]string, len(pairs)), []string(nil)
	for i, pair := range pairs {
		if !pair.Agent.Named() {
			continue
		}
		if named[i] = pair.Agent.ID; named[i] == "" {
			named[i] = byClient[AgentClientID(r.account, pair.Agent.Client)]
		}
		if ids = append(ids, named[i]); named[i] != "" && pair.UserID != "" {
			delegated = append(delegated, DelegationID(r.account, pair.UserID, named[i]))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	agents, err := readThrough(r.cache, SharedAgent, ids, func(ids []string) (map[string]*resources.Subject, error) { return r.agents(ctx, ids) })
	if err != nil {
		return err
	}
	delegations, err := readThrough(r.cache, SharedDelegation, delegated, func(keys []string) (map[string]*resources.Delegation, error) {
		recs, err := r.Delegations.GetAll(ctx, r.tx, keys)
		out := make(map[string]*resources.Delegation, len(recs))
		for key, rec := range recs {
			out[key] = &rec.Value
		}
		return out, err
	})
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		if !pair.Agent.Named() {
			continue
		}
		if facts[i].Agent = agents[named[i]]; facts[i].Agent == nil {
			facts[i].Agent = &resources.Subject{AccountID: r.account}
		}
		facts[i].Delegation = delegations[DelegationID(r.account, pair.UserID, named[i])]
	}
	return nil
}

// agents returns agents of the account as subjects of their own roles, without unknown ones.
func (r factsReader) agents(ctx context.Context, ids []string) (map[string]*resources.Subject, error) {
	recs, err := r.Agents.GetAll(ctx, r.tx, ids)
	if err != nil {
		return nil, err
	}
	accounts, err := readThrough(r.cache, SharedAccount, []string{r.account}, func(ids []string) (map[string]*store.Record[resources.Account], error) {
		return pointers(r.Accounts.GetAll(ctx, r.tx, ids))
	})
	if err != nil {
		return nil, err
	}
	out, members := map[string]*resources.Subject{}, []*member(nil)
	for id, rec := range recs {
		if rec.Value.AccountID != r.account {
			continue
		}
		s := &resources.Subject{AccountID: r.account, UserID: id, UserExists: true, UserStatus: rec.Value.Status, HomeID: r.account, Member: true}
		if acct := accounts[r.account]; acct != nil {
			s.AccountExists, s.AccountStatus = true, acct.Value.Status
		}
		rows, err := store.ReadAll(ctx, r.tx, []store.Read{{Schema: r.Assignments.Schema(), Query: assignedTo(r.account, resources.AssigneeAgent, id)}})
		if err != nil {
			return nil, err
		}
		m, err := r.holding(s, nil, rows[0])
		if err != nil {
			return nil, err
		}
		out[id], members = s, append(members, m)
	}
	return out, r.assign(ctx, members)
}
