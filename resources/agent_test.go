package resources_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestADelegationIsACeiling guarantees what a delegation covers: the actions of its patterns, until its end, in its
// project. No delegation covers nothing.
func TestADelegationIsACeiling(t *testing.T) {
	const now = resources.Time(1_000)
	for name, c := range map[string]struct {
		given   *resources.Delegation
		action  string
		project string
		want    bool
	}{
		"none":                        {nil, "project:a:read", "p", false},
		"no permission":               {&resources.Delegation{}, "project:a:read", "p", false},
		"the action":                  {&resources.Delegation{Permissions: []string{"project:a:read"}}, "project:a:read", "p", true},
		"a pattern":                   {&resources.Delegation{Permissions: []string{"account:b:*", "project:*:read"}}, "project:a:read", "p", true},
		"another verb":                {&resources.Delegation{Permissions: []string{"project:*:read"}}, "project:a:merge", "p", false},
		"another scope":               {&resources.Delegation{Permissions: []string{"project:*:*"}}, "account:a:read", "", false},
		"before its end":              {&resources.Delegation{Permissions: []string{"*:*:*"}, ExpiresAt: now + 1}, "project:a:read", "p", true},
		"at its end":                  {&resources.Delegation{Permissions: []string{"*:*:*"}, ExpiresAt: now}, "project:a:read", "p", false},
		"after its end":               {&resources.Delegation{Permissions: []string{"*:*:*"}, ExpiresAt: now - 1}, "project:a:read", "p", false},
		"in its project":              {&resources.Delegation{Permissions: []string{"*:*:*"}, ProjectID: "p"}, "project:a:read", "p", true},
		"in another project":          {&resources.Delegation{Permissions: []string{"*:*:*"}, ProjectID: "p"}, "project:a:read", "q", false},
		"of a project, at an account": {&resources.Delegation{Permissions: []string{"*:*:*"}, ProjectID: "p"}, "account:a:read", "", false},
	} {
		action := must.Get(resources.ParseAction(c.action))(t)
		target := resources.TargetAt(c.project, "")
		if got := c.given.Covers(&action, &target, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestAnUnknownAgentIsNobodys guarantees that only a server for any agent, without consent, judges an unknown one as its
// user.
func TestAnUnknownAgentIsNobodys(t *testing.T) {
	for _, acting := range []resources.ActingAgent{{}, {Any: true}, {Consented: true}, {Any: true, Consented: true}} {
		unknown := resources.Question{Facts: resources.Facts{Agent: &resources.Subject{}}}
		a := acting.In(&unknown)
		if free := acting.Any && acting.Consented; (a == nil) != free || a != nil && (a.Exists || a.Status != "" || a.Covered != acting.Consented) {
			t.Errorf("%+v: %+v", acting, a)
		}
		if a := acting.In(&resources.Question{}); a == nil || a.Exists {
			t.Errorf("%+v without facts: %+v", acting, a)
		}
		registered := resources.Question{Facts: resources.Facts{Agent: &resources.Subject{UserID: "agent-a-v1", UserExists: true, UserStatus: resources.StatusSuspended}}}
		if a := acting.In(&registered); a == nil || !a.Exists || a.ID != "agent-a-v1" || a.Status != resources.StatusSuspended {
			t.Errorf("%+v, registered: %+v", acting, a)
		}
	}
}

// TestAnAgentsClientIsNotTheUsersOwn guarantees which tokens are an agent's.
func TestAnAgentsClientIsNotTheUsersOwn(t *testing.T) {
	for name, c := range map[string]struct {
		client *resources.Client
		agent  bool
	}{
		"no client": {nil, false}, "no id": {&resources.Client{Issuer: "i"}, false}, "own": {&resources.Client{Issuer: "i", ID: "c", Own: true}, false},
		"a client": {&resources.Client{Issuer: "i", ID: "c"}, true}, "malformed actors": {&resources.Client{Issuer: "i", Actors: []string{""}}, true},
	} {
		if got, agent := c.client.Agent(); agent != c.agent || agent && got.Issuer != "i" {
			t.Errorf("%s: %+v, %t", name, got, agent)
		}
	}
	long := strings.Repeat("c", 256)
	for client, valid := range map[resources.AgentClient]bool{
		{Issuer: "i", ClientID: "c"}: true, {Issuer: "", ClientID: "c"}: false, {Issuer: "i", ClientID: " c"}: false, {Issuer: long, ClientID: "c"}: false, {Issuer: "i", ClientID: long}: false, {Issuer: "i", ClientID: "agent-x-v1"}: false,
	} {
		if client.Valid() != valid {
			t.Errorf("%+v: %t", client, !valid)
		}
	}
}
