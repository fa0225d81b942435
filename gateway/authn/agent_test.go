package authn_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// agents is a directory of one user, by the partner id alone, and of an agent with two clients in all accounts but acct-2-v1.
type agents struct {
	status string
	err    error
	// missing is true for a directory without the user.
	missing bool
}

func (a agents) IdentifyKey(context.Context, string) (resources.KeyIdentity, bool, error) {
	return resources.KeyIdentity{}, false, nil
}

func (a agents) Identify(_ context.Context, sub string, byExternal, byPartner bool) (resources.Identity, bool, error) {
	if sub == "unreachable" && byExternal && byPartner {
		return resources.Identity{}, false, errDirectory
	}
	ok := sub == "robot" && byPartner && !a.missing
	return resources.Identity{ID: "user-robot-v1", Status: resources.StatusActive}, ok, nil
}

func (a agents) AgentOf(_ context.Context, account string, client resources.AgentClient) (resources.Identity, bool, error) {
	ok := account != "acct-2-v1" && client.Issuer == issuerName && (client.ClientID == "robot" || client.ClientID == "web")
	return resources.Identity{ID: "agent-robot-v1", AccountID: account, Status: a.status}, ok, a.err
}

// TestAnAgentComesWithoutAUserWhereItIsTaken guarantees the principal of an active agent of the account, at a resource for
// its agents. No other token gives it. A user with the name in any form goes first.
func TestAnAgentComesWithoutAUserWhereItIsTaken(t *testing.T) {
	const tools = "https://gateway.example/mcp/x"
	for name, c := range map[string]struct {
		directory agents
		changes   object
		account   string
		want      string
	}{
		"an agent":                      {agents{"ACTIVE", nil, true}, nil, "acct-1-v1", "agent-robot-v1"},
		"agents are not taken":          {agents{"ACTIVE", nil, true}, nil, "", ""},
		"another account":               {agents{"ACTIVE", nil, true}, nil, "acct-2-v1", ""},
		"a user by another name":        {agents{"ACTIVE", nil, false}, nil, "acct-1-v1", ""},
		"a suspended one":               {agents{"SUSPENDED", nil, true}, nil, "acct-1-v1", ""},
		"one without a status":          {agents{"", nil, true}, nil, "acct-1-v1", ""},
		"a directory that fails":        {agents{"ACTIVE", errDirectory, true}, nil, "acct-1-v1", "unavailable"},
		"a directory of users fails":    {agents{"ACTIVE", nil, true}, object{"sub": "unreachable", "client_id": "unreachable"}, "acct-1-v1", "unavailable"},
		"an unknown client":             {agents{"ACTIVE", nil, true}, object{"sub": "other", "client_id": "other"}, "acct-1-v1", ""},
		"another subject":               {agents{"ACTIVE", nil, true}, object{"sub": "other"}, "acct-1-v1", ""},
		"an actor":                      {agents{"ACTIVE", nil, true}, object{"act": object{"sub": "robot"}}, "acct-1-v1", ""},
		"the company's own application": {agents{"ACTIVE", nil, true}, object{"sub": "web", "client_id": "web"}, "acct-1-v1", ""},
		"no client":                     {agents{"ACTIVE", nil, true}, object{"client_id": nil}, "acct-1-v1", ""},
	} {
		settings := issuer(keySet(t, standardKeys()...))
		settings.Subjects, settings.Apps = authn.SubjectsExternalID, []string{"web"}
		a := must.Get(authn.New(authn.Options{Issuers: []authn.Issuer{settings}, Directory: c.directory, Now: newClock().Now}))(t)
		token := edToken(object{"aud": []string{audience, tools}, "sub": "robot", "client_id": "robot"}.merged(c.changes))
		p, err := a.AuthenticateFor(t.Context(), tools, c.account, sent("Bearer "+token))
		switch c.want {
		case "":
			if !resources.IsKind(err, resources.KindBadCredential) || p.Kind != "" || authn.ReasonOf(err) == authn.ReasonMalformed {
				t.Errorf("%s: %+v, %v, for the reason %s", name, p, err, authn.ReasonOf(err))
			}
		case "unavailable":
			if !resources.IsKind(err, resources.KindUnavailable) || p.Kind != "" {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		default:
			if err != nil || p.Kind != resources.PrincipalAgent || p.ID != c.want || p.AccountID != c.account || p.UUID != "" || p.Client == nil {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		}
		for way, authenticate := range map[string]func() (resources.Principal, error){
			"a token": func() (resources.Principal, error) { return a.Verify(t.Context(), token) },
			"headers": func() (resources.Principal, error) { return a.Authenticate(t.Context(), sent("Bearer "+token), nil) },
		} {
			if p, err := authenticate(); err == nil {
				t.Errorf("%s, by %s alone: %+v", name, way, p)
			}
		}
	}
}
