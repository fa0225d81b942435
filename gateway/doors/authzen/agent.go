package authzen

import (
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// agent returns the agent of context.agent, or notes why the question can't be narrowed to it. The zero value is none.
func (t *translator) agent(tuple *Tuple) (ref resources.AgentRef) {
	const field = "context.agent"
	if tuple.Context == nil || tuple.Context.Agent == "" {
		return ref
	}
	name, caller := tuple.Context.Agent, t.call.Caller
	switch {
	case caller.Kind == resources.PrincipalUser && tuple.Subject != nil && !verdict.MayNameAgent(caller, tuple.user()):
		tuple.problem(field, "must not be sent: a user names an agent of their own alone")
	case resources.IsAgentID(name): // no client of an agent has such an id
		ref.ID = name
	case !resources.ValidSubject(name):
		tuple.problem(field, "must be the id of an agent or a client_id, 1 to 255 bytes of visible text")
	case caller.Client == nil:
		tuple.problem(field, "must be the id of an agent: an API key has no issuer with clients")
	default:
		ref.Client = resources.AgentClient{Issuer: caller.Client.Issuer, ClientID: name}
	}
	return ref
}
