package compare

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// people returns the values of the person part: each kind of caller with each state of the user and account. With
// anyCaller, one user may ask about another. Impossible persons come last. If no rule reads scopes, one service stands for
// all that name an agent.
func (c constants) people(anyCaller, scopesRead bool) (out []person) {
	for _, base := range c.users() {
		for _, caller := range c.callers(anyCaller) {
			p := base
			subject := base.subject.Clone()
			p.subject = subject
			p.caller, p.credential, p.principal = caller.caller, caller.credential, caller.principal
			switch {
			case p.caller == "self", p.caller == anAgent:
				p.principal.ID, p.principal.UUID = subject.UserID, subject.UserUUID
				if subject.Member {
					p.principal.AccountID = subject.AccountID
				}
				p.impossible = p.impossible || !subject.UserExists
			case !anyCaller && caller.principal.Kind != resources.PrincipalUser:
				// The gateway reads no user for a service.
				if subject.UserExists || subject.UserID != AnyUser {
					continue
				}
				subject.UserID, subject.UserUUID = "", ""
				p.states = slices.DeleteFunc(slices.Clone(p.states), func(s State) bool { return s.Name == "user" })
			}
			out = append(out, p)
			names := p.caller == "self" || p.principal.HasScope(resources.ServiceScopeCheck) && (scopesRead || len(p.principal.Scopes) == 1)
			if anyCaller && names {
				out = append(out, p.withAgents()...)
			}
		}
	}
	if !anyCaller {
		out = append(out, c.anybody()...)
	}
	possible := slices.DeleteFunc(slices.Clone(out), func(p person) bool { return p.impossible })
	return append(possible, slices.DeleteFunc(out, func(p person) bool { return !p.impossible })...)
}

// anybody returns the callers of a public route, for which the gateway reads no facts: one for each account in question.
func (c constants) anybody() (out []person) {
	for _, id := range append(c.texts([]string{AnyAccount}, "account.id", "target.account"), "") {
		p := person{
			principal: resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone},
			account:   id, caller: "anybody", credential: resources.CredentialNone,
		}
		if id != AnyAccount && id != "" {
			p.states = []State{{"account_id", id}}
		}
		out = append(out, p)
	}
	return out
}

// withAgents returns the person with an agent in each state. Questions at decision alone name agents, and only those of
// callers who may (verdict.MayNameAgent).
func (p person) withAgents() (out []person) {
	add := func(state string, agent resources.ActingAgent) {
		acting := p
		acting.agent, acting.states = &agent, append(slices.Clone(p.states), State{"agent", state})
		out = append(out, acting)
	}
	for _, covered := range []bool{true, false} {
		words := map[bool]string{true: "", false: ", without a delegation"}[covered]
		for _, status := range statuses("agent.status") {
			if status == "" {
				add("unknown"+words, resources.ActingAgent{Covered: covered})
			} else {
				add(status+words, resources.ActingAgent{ID: "agent-any-v1", Exists: true, Status: status, Covered: covered})
			}
		}
	}
	return out
}

// users returns the users in each state, in each account.
func (c constants) users() (out []person) {
	for _, account := range c.accounts() {
		for _, id := range c.userIDs() {
			base := account.subject
			base.UserID, base.UserUUID = id, AnyUUID
			add := func(state string, impossible bool, change func(*resources.Subject)) {
				subject := base.Clone()
				change(subject)
				states := append([]State{{"user", state}}, account.states...)
				if id != AnyUser {
					states = append(states, State{"user_id", id})
				}
				out = append(out, person{subject: subject, account: account.account, states: states, impossible: impossible})
			}
			for _, status := range statuses("subject.status") {
				if account.account != "" {
					add(status, false, func(s *resources.Subject) { s.UserExists, s.Member, s.UserStatus = true, true, status })
				}
				add(status+", no member", false, func(s *resources.Subject) { s.UserExists, s.UserStatus = true, status })
			}
			add("unknown", false, func(*resources.Subject) {})
			add("unknown, but ACTIVE and a member", true, func(s *resources.Subject) { s.UserStatus, s.Member = resources.StatusActive, true })
		}
	}
	return out
}

// userIDs returns the ids of the users in question.
func (c constants) userIDs() []string {
	return c.texts([]string{AnyUser}, "subject.id", "principal.id", "target.user")
}

// accounts returns the accounts in each state, and a question without an account.
func (c constants) accounts() (out []person) {
	for _, id := range c.texts([]string{AnyAccount}, "account.id", "target.account") {
		for _, status := range append(statuses("account.status"), "absent") {
			subject := &resources.Subject{AccountID: id}
			if status != "absent" {
				subject.AccountExists, subject.AccountStatus = true, status
			}
			states := []State{{"account", status}}
			if id != AnyAccount {
				states = append(states, State{"account_id", id})
			}
			out = append(out, person{account: id, subject: subject, states: states})
		}
	}
	return append(out, person{subject: &resources.Subject{}, states: []State{{"account", "none"}}})
}

// callers returns the kinds of callers, each with its credentials.
func (c constants) callers(anyCaller bool) (out []person) {
	kinds := []string{"self"}
	if anyCaller {
		kinds = append(kinds, c.texts([]string{OtherUser}, "principal.id")...)
	}
	for _, caller := range kinds {
		user := resources.Principal{Kind: resources.PrincipalUser, Credential: resources.CredentialToken}
		name := caller
		if caller != "self" {
			user.ID, user.UUID, user.AccountID = caller, otherUUID, AnyAccount
			if name = "user " + caller; caller == OtherUser {
				name = "another user"
			}
		}
		out = append(out, person{caller: name, credential: "token", principal: user})
		for _, scopes := range subsets([]string{resources.KeyScopeRead, resources.KeyScopeWrite}) {
			key := user
			key.Credential, key.KeyScopes = resources.CredentialKey, scopes
			out = append(out, person{caller: name, credential: strings.TrimSpace("key " + strings.Join(scopes, "+")), principal: key})
		}
	}
	for _, id := range c.texts([]string{anyService}, "principal.id") {
		if id != anyService && !strings.HasPrefix(id, resources.ServicePrefix) {
			continue
		}
		for _, scopes := range subsets(c.serviceScopes()) {
			name := strings.TrimSpace("service " + strings.Join(scopes, "+"))
			if id != anyService {
				name += " (" + id + ")"
			}
			out = append(out, person{caller: name, credential: "token", principal: resources.Principal{
				Kind: resources.PrincipalService, ID: id, Scopes: scopes, Credential: resources.CredentialToken,
			}})
		}
	}
	if anyCaller {
		out = append(out, person{caller: anAgent, credential: "token", principal: resources.Principal{
			Kind: resources.PrincipalAgent, Credential: resources.CredentialToken,
		}})
	}
	return append(out, person{caller: "nobody", credential: "none", principal: resources.Principal{
		Kind: resources.PrincipalNone, Credential: resources.CredentialNone,
	}})
}

// serviceScopes returns the scopes of resources.ServiceScopes, those that rules name, and one other if a rule iterates
// over scopes.
func (c constants) serviceScopes() []string {
	named := c.texts(nil, "principal.scopes")
	out := resources.ServiceScopes()
	for _, scope := range named {
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	if c[anyScope] != nil {
		out = append(out, anyScope)
	}
	return out
}

// anAgent is the caller of an agent without a user. It asks at decision alone, about itself.
const anAgent = "agent"

// subsets returns all subsets of the names, the empty one first.
func subsets(names []string) (out [][]string) {
	for bits := range 1 << len(names) {
		var set []string
		for i, name := range names {
			if bits&(1<<i) != 0 {
				set = append(set, name)
			}
		}
		out = append(out, set)
	}
	return out
}
