package authzen_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// generous allows everything and notes what it was asked.
type generous struct {
	verdict.Tree
	asked []resources.Question
	log   resources.DecisionLog
}

func (g *generous) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	g.asked = append(g.asked, q)
	return resources.Decision{Allowed: true, Reason: "yes", PolicyRevision: "r"}, nil
}

func (g *generous) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true}, nil
}

func (g *generous) FactsOf(_ context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	for i, pair := range pairs {
		facts[i] = resources.Facts{Revision: 1, Subject: &resources.Subject{AccountID: account, UserID: pair.UserID}}
		if pair.Agent.Named() {
			facts[i].Agent = &resources.Subject{AccountID: account, UserID: pair.Agent.ID + pair.Agent.Client.ClientID}
		}
	}
	return nil
}

func (g *generous) Facts(context.Context, string, string, string) (resources.Facts, error) {
	return resources.Facts{}, errors.New("facts of one")
}

func (g *generous) App(string) (resources.App, bool) { return resources.App{}, false }

func (g *generous) AccessByUser(string) bool { return true }

func (g *generous) Revision() string { return "r" }

func (g *generous) Homes(_ context.Context, users []string) ([]string, error) {
	return slices.Repeat([]string{"acct-home-v1"}, len(users)), nil
}

// Charge implements doors.Rates.
func (g *generous) Charge(int) error { return nil }

func (g *generous) Owe(int) {}

func (g *generous) Enter(context.Context, string) error { return nil }

func (g *generous) Leave() {}

// MCPServer has a server with a tool for each name but "none".
func (g *generous) MCPServer(name string) *resources.MCPServer {
	if name == "none" {
		return nil
	}
	return &resources.MCPServer{Name: name, Tools: map[string]resources.MCPTool{"t": {Action: "project:x:read", Effect: "read"}}}
}

// Identity implements doors.Headers.
func (g *generous) Identity(string) (value, problem string) { return "", "" }

// Values implements doors.Headers.
func (g *generous) Values(string) (values []string, odd bool) {
	return []string{"application/json"}, false
}

func (g *generous) questions() authzen.Questions {
	return authzen.Questions{Judge: &verdict.Judge{
		Pin: func() verdict.Tree { return g }, Facts: g, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now, Log: g.log,
	}}
}

// call is a service's call with the body.
func (g *generous) call(body string) doors.Call {
	return doors.Call{
		Caller: &resources.Principal{Kind: resources.PrincipalService, Scopes: []string{resources.ServiceScopeCheck}}, Row: &route.Row{}, Rates: g,
		Headers: g, Revision: g.Revision(), Rows: things, Body: []byte(body),
	}
}

// FuzzEvaluations guarantees that the answer to any body is JSON. An answer allows only a question that any other
// decoder reads in the body too, and names only subjects of the body.
func FuzzEvaluations(f *testing.F) {
	const subject, action = `"subject":{"type":"user","id":"alice"}`, `"action":{"name":"project:x:read"}`
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `{` + subject + `,` + action + `,"resource":{"type":"path","id":"x/y"}}`,
		`{` + subject + `,` + action + `,"evaluations":[{"resource":{"type":"x","id":"1","properties":{"project_id":"p"}}},{},{"subject":null}],"context":{"account_id":"a"}}`,
		`{"evaluations":[{` + subject + `,` + action + `,"resource":{"type":"account","id":"a"}},1,[]],"options":{"evaluations_semantic":"deny_on_first_deny"}}`,
		`{` + subject + `,"subject":{"type":"user","id":"bob"}}`, `{"\u0073ubject":{"type":"user","id":"\u0061"},` + action + `,"resource":{"type":"route","id":"/x"}}`,
		`{` + subject + `,"action":{"name":"GET"},"resource":{"type":"route","id":"/things/1"}}`,
		`{` + subject + `,"resource":{"type":"tool","id":"t","properties":{"server":"s","project_id":"p"}},"context":{"agent":"agent-a-v1"}}`,
		`{` + subject + `,"action":{"name":"tools/t"},"evaluations":[{"resource":{"type":"mcp_server","id":"s"}},{"resource":{"type":"mcp_server","id":"none"},"context":{"agent":7}}]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		g := &generous{}
		a, err := authzen.Evaluations{Questions: g.questions(), Most: 5, Turns: g}.Answer(t.Context(), g.call(body))
		if err != nil {
			if !resources.IsKind(err, resources.KindBadRequest) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(a.Body) {
			t.Fatalf("%s", a.Body)
		}
		var sent map[string]any
		if err := json.Unmarshal([]byte(body), &sent); err != nil {
			t.Fatalf("%s is answered, and is no object: %v", body, err)
		}
		named := map[any]bool{}
		items, _ := sent["evaluations"].([]any)
		for _, one := range append(items, sent) {
			if entities, ok := one.(map[string]any); ok {
				if subject, ok := entities["subject"].(map[string]any); ok {
					named[subject["id"]] = true
				}
				if context, ok := entities["context"].(map[string]any); ok {
					named[context["agent"]] = true
				}
			}
		}
		for _, q := range g.asked {
			if !named[q.Facts.Subject.UserID] || q.Action.ID == "" || q.AccountID != q.Facts.Subject.AccountID {
				t.Fatalf("%s asks %+v about %+v", body, q, q.Facts.Subject)
			}
		}
	})
}
