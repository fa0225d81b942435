package gateway

import (
	"cmp"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// acting returns the agent that acts for the caller, nil for none: 403 for a call without an action. A protected door judges
// agents by itself. At other calls from outside an actor in the token is an agent, and needs all: to be registered, and a
// delegation of the user.
func (x *exchange) acting() (*resources.ActingAgent, error) {
	client, acts := x.principal.Client.Agent()
	var agent *resources.ActingAgent
	if c := x.inner; c != nil {
		agent, acts = c.Agent, acts && (c.Agent == nil || !c.Own)
	} else if acts = x.resource == nil && x.principal.Client.HasActor(); acts {
		agent = &resources.ActingAgent{Ref: resources.AgentRef{Client: client}}
	}
	switch {
	case !acts || x.match.Public:
		return nil, nil //nolint:nilnil // nil is no agent
	case agent == nil || x.match.Action.ID == "":
		return nil, resources.Denied("an agent can't make this call")
	}
	return agent, nil
}

// holdAgent refuses a call of a door that an agent may not make. Of other calls authorize does.
func (e *Edge) holdAgent(x *exchange) error {
	agent, err := x.acting()
	if err != nil || agent == nil {
		return err
	}
	return e.narrow(x, agent)
}

// narrow refuses an agent that may not make the call for its user: 403, 503.
func (e *Edge) narrow(x *exchange, agent *resources.ActingAgent) error {
	o := x.narrowed(e.cfg.Judge, agent)
	if o.Err == nil && o.Allowed {
		return e.holdTree(x, &o)
	}
	if x.raw != nil {
		x.raw.Response.Header.Del(headerDecisionID) // it names the verdict on the user's call
	}
	x.judged(&o)
	if o.Err != nil {
		return o.Err
	}
	return resources.Denied("your agent may not do " + x.match.Action.ID + " for you: " + o.Reason)
}

// narrowed judges the call for the agent and its user, in the place of the call.
func (x *exchange) narrowed(judge *verdict.Judge, agent *resources.ActingAgent) verdict.Outcome {
	q := x.question()
	if x.entry != nil && x.entry.door != nil { // it reads the place by itself
		q.AccountID = cmp.Or(x.params()[route.ParamAccount], x.principal.AccountID)
		if x.inner != nil {
			q.AccountID = x.inner.Account
		}
		q.Target = resources.Target{AccountID: q.AccountID}
	}
	q.SubjectID, q.Agent = x.principal.ID, agent
	return judge.Acting(x.ctx, &x.principal, x.match.Row, q)
}
