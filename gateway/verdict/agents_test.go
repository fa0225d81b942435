package verdict_test

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// helped is a policy that allows what its function allows.
type helped struct {
	many
	allows func(q *resources.Question) bool
	denied error
}

func (h *helped) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	h.questions = append(h.questions, q)
	if h.allows(&q) {
		return yes, h.denied
	}
	return resources.Decision{Code: "no_role", Reason: "no"}, h.denied
}

func (h *helped) judge() *verdict.Judge {
	pins := 0
	j := h.many.judge(&pins)
	j.Pin, j.Facts = func() verdict.Tree { return h }, h
	return j
}

func (h *helped) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	err := h.many.FactsOf(ctx, account, pairs, facts)
	for i, pair := range pairs {
		if pair.Agent.Named() {
			facts[i].Agent = &resources.Subject{AccountID: account, UserID: pair.Agent.ID, UserExists: true, UserStatus: resources.StatusActive}
		}
	}
	return err
}

// TestWhoMayNameAnAgent guarantees that services with the scope to ask name agents, and users about themselves. Anybody
// else is refused. The verdict needs the user's allow and the agent's.
func TestWhoMayNameAnAgent(t *testing.T) {
	service := func(scopes ...string) *resources.Principal {
		return &resources.Principal{Kind: resources.PrincipalService, ID: "service-a", Scopes: scopes, Credential: resources.CredentialToken}
	}
	user := func(id, credential string) *resources.Principal {
		return &resources.Principal{Kind: resources.PrincipalUser, ID: id, AccountID: "acct-a-v1", Credential: credential}
	}
	for name, c := range map[string]struct {
		caller *resources.Principal
		may    bool
	}{
		"a service":                        {service("users:sync", resources.ServiceScopeCheck), true},
		"a service without the scope":      {service("users:sync", resources.ServiceScopeExplain), false},
		"a service with the user's id":     {&resources.Principal{Kind: resources.PrincipalService, ID: "user-bob-v1"}, false},
		"the user":                         {user("user-bob-v1", resources.CredentialToken), true},
		"the user by key":                  {user("user-bob-v1", resources.CredentialKey), true},
		"another user":                     {user("user-alice-v1", resources.CredentialToken), false},
		"another user with a scope's name": {&resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", Scopes: []string{resources.ServiceScopeCheck}}, false},
		"nobody":                           {&resources.Principal{Kind: resources.PrincipalNone}, false},
	} {
		for _, agentMay := range []bool{true, false} {
			h := &helped{many: many{parts: parts{access: yes}, log: &recorder{}}, allows: func(q *resources.Question) bool { return agentMay || q.SubjectID != "agent-a-v1" }}
			q := question(t)
			q.Agent = &resources.ActingAgent{Ref: resources.AgentRef{ID: "agent-a-v1"}}
			o := h.judge().One(resources.WithDecision(t.Context(), "the-call"), c.caller, door(t), q)
			switch {
			case !c.may:
				if o.Allowed || !resources.IsKind(o.Err, resources.KindForbidden) || len(h.questions) > 1 {
					t.Errorf("%s: %+v", name, o)
				}
			case o.Err != nil || o.Allowed != agentMay || !agentMay && o.Code != verdict.CodeAgentRole || len(h.log.judgements) != 2 ||
				h.log.judgements[0].ParentID != "the-call" || h.log.judgements[1].ParentID != o.ID:
				t.Errorf("%s, the agent may %t: %+v, %d records", name, agentMay, o, len(h.log.judgements))
			}
		}
	}
}

// TestWhatIsWithheldIsDenied guarantees that a door's denial turns an allow into a denial, in the record as well. If policy
// denies the user or the agent, the outcome is the same.
func TestWhatIsWithheldIsDenied(t *testing.T) {
	bob := &resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", AccountID: "acct-a-v1", Credential: resources.CredentialToken}
	for name, allows := range map[string]func(*resources.Question) bool{
		"allowed": func(*resources.Question) bool { return true }, "denied": func(*resources.Question) bool { return false },
		"the agent is denied": func(q *resources.Question) bool { return q.SubjectID == "user-bob-v1" },
	} {
		for _, agent := range []*resources.ActingAgent{nil, {Ref: resources.AgentRef{ID: "agent-a-v1"}}} {
			var got [2]verdict.Outcome
			for i, withheld := range []resources.Denial{{}, {Code: "no_row", Reason: "there is none"}} {
				h := &helped{many: many{parts: parts{access: yes}, log: &recorder{}}, allows: allows}
				q := question(t)
				q.Agent, q.Withheld = agent, withheld
				got[i] = h.judge().One(t.Context(), bob, door(t), q)
				if first := h.log.judgements[0]; withheld.Code != "" && got[0].Allowed && (first.Decision.Allowed || first.Decision.Code != "no_row" || !first.Unasked) {
					t.Errorf("%s is recorded as %+v", name, first.Decision)
				}
			}
			switch plain, withheld := got[0], got[1]; {
			case plain.Allowed && (withheld.Allowed || withheld.Code != "no_row" || withheld.Reason != "there is none"):
				t.Errorf("%s: %+v", name, withheld)
			case !plain.Allowed && (withheld.Allowed || withheld.Code != plain.Code || withheld.Reason != plain.Reason):
				t.Errorf("%s: %+v and %+v", name, plain, withheld)
			}
		}
	}
	q := question(t)
	q.Agent = &resources.ActingAgent{Ref: resources.AgentRef{ID: "agent-a-v1"}}
	lost := &many{parts: parts{access: yes, decide: yes}}
	pins := 0
	if o := lost.judge(&pins).One(t.Context(), bob, door(t), q); o.Allowed || !resources.IsKind(o.Err, resources.KindUnavailable) {
		t.Errorf("without facts about the agent: %+v", o)
	}
	h := &helped{many: many{parts: parts{access: yes}}, allows: func(*resources.Question) bool { return true }, denied: errors.New("broken")}
	q = question(t)
	q.Withheld = resources.Denial{Code: "no_row"}
	if o := h.judge().One(t.Context(), bob, door(t), q); o.Allowed || !resources.IsKind(o.Err, resources.KindUnavailable) {
		t.Errorf("%+v", o)
	}
}

// TestAnAgentWithoutAUserActsForItselfAlone guarantees that it makes no call and asks about nobody else, even in a tree open
// to everybody. Its question about itself has its own facts, by its client: of another agent with the client by now it has
// none.
func TestAnAgentWithoutAUserActsForItselfAlone(t *testing.T) {
	client := resources.Client{Issuer: "https://login.example", ID: "robot"}
	for _, id := range []string{"", "agent-other-v1"} { // the double names an agent by the reference's id
		robot := &resources.Principal{Kind: resources.PrincipalAgent, ID: id, AccountID: "acct-a-v1", Credential: resources.CredentialToken, Client: &client}
		h := &helped{many: many{parts: parts{access: yes}}, allows: func(q *resources.Question) bool {
			return q.Facts.Agent == nil && q.Facts.Subject.UserExists
		}}
		q := question(t)
		q.SubjectID = id
		if o := h.judge().One(t.Context(), robot, door(t), q); o.Err != nil || o.Allowed != (id == "") || len(h.questions) != 1 {
			t.Errorf("%q about itself: %+v", id, o)
		}
		if pair := h.gathered[0][len(h.gathered[0])-1]; pair.UserID != "" || pair.Agent.Client.ClientID != "robot" {
			t.Errorf("facts of %+v", pair)
		}
		for name, change := range map[string]func(*resources.Question){
			"a user": func(q *resources.Question) { q.SubjectID = "user-bob-v1" },
			"an app": func(q *resources.Question) { q.App = &resources.Entities{ResourceType: "todo"} },
			"a user's agent": func(q *resources.Question) {
				q.Agent = &resources.ActingAgent{Ref: resources.AgentRef{ID: "agent-a-v1"}}
			},
			"nobody and a app": func(q *resources.Question) { q.SubjectID, q.App = "", &resources.Entities{ResourceType: "todo"} },
		} {
			h := &helped{many: many{parts: parts{access: yes}}, allows: func(*resources.Question) bool { return true }}
			q := question(t)
			q.SubjectID = id
			change(&q)
			if o := h.judge().One(t.Context(), robot, door(t), q); o.Allowed || o.Err == nil {
				t.Errorf("%q about %s: %+v", id, name, o)
			}
		}
		if o := h.judge().Enter(t.Context(), robot, door(t), question(t)); o.Allowed || !resources.IsKind(o.Err, resources.KindForbidden) {
			t.Errorf("a call: %+v", o)
		}
		if o := h.judge().MayAsk(t.Context(), robot, door(t), "acct-a-v1", id); o.Allowed || !resources.IsKind(o.Err, resources.KindForbidden) {
			t.Errorf("a search: %+v", o)
		}
	}
}
