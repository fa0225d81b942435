package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// The door's own codes of denials. Those of policy are in policies/authz/reasons.rego.
const (
	codeNoRole          = "no_role"
	codeActiveMember    = "needs_active_member"
	codeRegisteredAgent = "needs_registered_agent"
	codeActiveAgent     = "needs_active_agent"
	codeDelegation      = "needs_delegation"
	codeDefinition      = "definition_changed"
	codeExchange        = "exchange_refused"
)

// visit is one call to a server. One policy tree judges all of it.
type visit struct {
	*Door
	call doors.Call
	// sent has the values of the headers of every call, by the names in the door.
	sent map[string][]string
	// authorization has the values of the caller's Authorization.
	authorization []string
	place         place
	server        *resources.MCPServer
	judge         *verdict.Judge
	// answered is the call to the server whose response is read.
	answered Outgoing
	// use is the use of the row that the message names, nil without one.
	use *use
	// rejected is true once the door has logged the rejection of a request of the server.
	rejected *atomic.Bool
	// release ends the count of the client's message as held, nil for none. A stream judges its arguments until its end.
	release func()
	// tasks are the tasks of the message.
	tasks tasks
	// rows are those of the stream that is read. asked has the client's ids of its server's requests by the server's; it is
	// nil without a stream.
	rows  []row
	asked map[string]string
	// argued says why the arguments are denied.
	argued string
	// outcome is the verdict of the row that the message names, or nil.
	outcome *verdict.Outcome
	// needed is the approval without which the call is denied, or nil.
	needed *needed
	// led is true once the client has led its user to the page about the approval.
	led bool
}

// account returns the account in the path or, without one, the caller's.
func (v *visit) account() string { return cmp.Or(v.place.account, v.call.Caller.AccountID) }

// question is E3's question about the caller's use of a row.
func (v *visit) question(r row) resources.Question {
	return questionOf(v.server, v.place, r, v.call.Caller.ID, v.account(), v.agent())
}

// questionOf is E3's question about the use of a row by a user, for whom the agent acts; nil is none.
func questionOf(s *resources.MCPServer, p place, r row, user, account string, agent *resources.ActingAgent) resources.Question {
	q := resources.Question{SubjectID: user, AccountID: account, Action: r.action, Target: p.target(r), Agent: agent}
	switch {
	case !r.listed: // those whom a wildcard allows this action are denied all the same
		q.Action, q.Withheld = absent, resources.Denial{Code: codeNoRole, Reason: "the policy has no such row"}
	case r.action.Scope == resources.ScopeAccount:
		q.Target.ProjectID, q.Through = "", q.Target.ProjectID
	}
	if agent != nil && q.Withheld.Code == "" && s.Agents != resources.MCPAgentsAny && s.Agents != resources.MCPAgentsRegistered {
		q.Withheld = resources.Denial{Code: codeRegisteredAgent, Reason: "the server accepts people alone, and no agents"}
	}
	return q
}

// absent is the action of a name without a row. Policy judges it for its other reasons to deny, for example a suspended
// account.
var absent = resources.Action{ID: "project:mcp:absent", Scope: resources.ScopeProject, Resource: "mcp", Verb: "absent"}

// ask judges the caller's use of rows, in one batch on the facts of one revision. Errors: KindUnavailable without
// verdicts, KindForbidden for a caller that may not ask.
func (v *visit) ask(ctx context.Context, judge *verdict.Judge, rows ...row) ([]verdict.Outcome, error) {
	questions := make([]resources.Question, len(rows))
	for i, r := range rows {
		questions[i] = v.question(r)
	}
	out, err := judge.Judge(ctx, v.call.Caller, v.call.Row, questions, nil)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		switch {
		case out[i].Err != nil:
			return nil, out[i].Err
		case v.call.Caller.Kind == resources.PrincipalAgent && out[i].Code == codeActiveMember:
			return nil, errBadToken() // it has ended since the token was read
		}
	}
	return out, nil
}

// agent returns the agent that acts for the caller, nil for none.
func (v *visit) agent() *resources.ActingAgent { return acting(v.server, v.call.Caller) }

// Agent returns the agent that acts for the caller, nil for none.
func (o *Outgoing) Agent() *resources.ActingAgent { return acting(o.Server, &o.Principal) }

// acting returns the agent that acts for a caller of the server, nil for none.
func acting(s *resources.MCPServer, caller *resources.Principal) *resources.ActingAgent {
	client, acts := caller.Client.Agent()
	if !acts || caller.Kind == resources.PrincipalAgent { // it is the subject
		return nil
	}
	return agentOf(s, resources.AgentRef{Client: client})
}

// agentOf returns an agent under the rules of the server.
func agentOf(s *resources.MCPServer, ref resources.AgentRef) *resources.ActingAgent {
	return &resources.ActingAgent{Ref: ref, Any: s.Agents == resources.MCPAgentsAny, Consented: s.Consent == resources.MCPConsentNotRequired}
}

// reason explains a denial to a user. It names the server and the tool, and not the action.
func (v *visit) reason(o *verdict.Outcome, r row) string {
	kind := kindWord(r.kind)
	switch o.Code {
	case codeNoRole:
		return fmt.Sprintf("no role of yours lets you use the %s %q of the server %q", kind, r.name, v.server.Name)
	case codeRegisteredAgent:
		if v.server.Agents == resources.MCPAgentsNone {
			return fmt.Sprintf("the server %q accepts people alone, and no agents", v.server.Name)
		}
		return "the account has not registered your agent"
	case codeActiveAgent:
		return "your agent is suspended in this account"
	case verdict.CodeAgentRole:
		return fmt.Sprintf("no role of your agent lets it use the %s %q of the server %q", kind, r.name, v.server.Name)
	case codeDelegation:
		return fmt.Sprintf("you have not delegated the use of the %s %q of the server %q to your agent", kind, r.name, v.server.Name)
	case verdict.CodeArguments, verdict.CodeInvalidArguments:
		return v.argued
	case verdict.CodeApproval:
		return v.needed.reason(v.page(), r, v.server.Name)
	case codeExchange:
		return fmt.Sprintf("the authorization server gives no token for the server %q", v.server.Name)
	case codeDefinition:
		return fmt.Sprintf("the definition of the %s %q of the server %q has changed since its review", kind, r.name, v.server.Name)
	}
	return o.Reason
}

// kindWord returns the word for a kind of rows, as people read it.
func kindWord(kind string) string {
	if word := map[string]string{kindTool: "tool", kindPrompt: "prompt", kindResource: "resource"}[kind]; word != "" {
		return word
	}
	return "row"
}

// used returns the rows of a server, sorted.
func used(s *resources.MCPServer) (rows []row) {
	for name := range s.Tools {
		rows = append(rows, toolRow(s, name))
	}
	for name := range s.Prompts {
		rows = append(rows, promptRow(s, name))
	}
	for _, one := range s.Resources {
		rows = append(rows, templateRow(s, one.URI))
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return rows
}
