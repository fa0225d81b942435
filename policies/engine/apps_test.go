package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// withApp is the small tree with an app "docs" for the types doc and page.
func withApp(tb testing.TB, rules string) policytest.Tree {
	tb.Helper()
	schema := policytest.Copy(tb, policies.Tree())["schemas/app/schema.json"]
	return policytest.Small(tb).With("schemas/app/schema.json", string(schema.Data)).
		With("apps/docs/docs.rego", "package apps.docs\n\ntypes := {\"doc\", \"page\"}\n\n"+rules).
		With("apps/docs/data.json", `{"open": ["read"]}`)
}

// about is a question about a doc by bob.
func appQuestion(properties string) resources.Question {
	return resources.Question{
		App: &resources.Entities{
			ResourceType: "doc", Subject: []byte(`{"type": "user", "id": "user-bob-v1"}`), Action: []byte(`{"name": "read"}`),
			Resource: []byte(`{"type": "doc", "id": "d1", "properties": ` + properties + `}`),
		},
		AccountID: "acct-demo-v1", Facts: resources.Facts{Revision: 1, Subject: policytest.AdminSubject()}, Now: 1_767_225_600_000,
		Principal: resources.Principal{Kind: resources.PrincipalService, ID: "service-x", Credential: resources.CredentialToken, Scopes: []string{"authz:check"}},
	}
}

func contextOf(d resources.AppDecision) string {
	var parts []string
	for _, m := range d.Context {
		parts = append(parts, fmt.Sprintf("%q:%s", m.Name, m.Value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestAnAppDecides guarantees each form of an answer, and a denial for a value of any other form. The decision names
// the app.
func TestAnAppDecides(t *testing.T) {
	for name, c := range map[string]struct {
		rules, context string
		allow, fails   bool
	}{
		"true":                          {`decision := input.action.name == "read"`, `{}`, true, false},
		"false":                         {`decision := input.action.name == "write"`, `{}`, false, false},
		"undefined":                     {`decision if input.action.name == "write"`, `{}`, false, false},
		"an object that allows":         {`decision := {"decision": input.action.name == "read"}`, `{}`, true, false},
		"an object that denies":         {`decision := {"decision": input.action.name == "write"}`, `{}`, false, false},
		"a context":                     {`decision := {"decision": true, "context": {"b": [1, {"c"}, null, 2.50], "a": {"\n": "<x>"}}}`, `{"a":{"\n":"\u003cx\u003e"},"b":[1,["c"],null,2.50]}`, true, false},
		"a context of a deny":           {`decision := {"decision": false, "context": {"why": "no"}}`, `{"why":"no"}`, false, false},
		"an empty context":              {`decision := {"decision": true, "context": {}}`, `{}`, true, false},
		"data of the app":               {`decision := input.action.name in data.apps.docs.open`, `{}`, true, false},
		"what was sent":                 {`decision := {"decision": true, "context": {"i": [input.subject.id, input.resource.properties.owner, input.context]}}`, `{"i":["user-bob-v1","bob",{}]}`, true, false},
		"a text":                        {`decision := "true" if input.resource.id == "d1"`, ``, false, true},
		"a number":                      {`decision := 1 if input.resource.id == "d1"`, ``, false, true},
		"null":                          {`decision := null if input.resource.id == "d1"`, ``, false, true},
		"an object without decision":    {`decision := {"allow": true} if input.resource.id == "d1"`, ``, false, true},
		"a decision that is text":       {`decision := {"decision": "true"} if input.resource.id == "d1"`, ``, false, true},
		"more than a context":           {`decision := {"decision": true, "context": {}, "why": "x"} if input.resource.id == "d1"`, ``, false, true},
		"something else":                {`decision := {"decision": true, "why": {}} if input.resource.id == "d1"`, ``, false, true},
		"a context that is a list":      {`decision := {"decision": true, "context": []} if input.resource.id == "d1"`, ``, false, true},
		"a context without names":       {`decision := {"decision": true, "context": {1: 2}} if input.resource.id == "d1"`, ``, false, true},
		"a context without names below": {`decision := {"decision": true, "context": {"a": {1: 2}}} if input.resource.id == "d1"`, ``, false, true},
		"a long context":                {`decision := {"decision": true, "context": {"a": numbers.range(1, 100000)}} if input.resource.id == "d1"`, ``, false, true},
		"a context that unfolds": {`decision := {"decision": true, "context": {"a": z}} if {
	input.resource.id == "d1"
	a := ["0123456789012345678901234567890123456789"]
	b := [a, a, a, a, a, a, a, a, a, a]
	c := [b, b, b, b, b, b, b, b, b, b]
	d := [c, c, c, c, c, c, c, c, c, c]
	z := [d, d, d, d, d, d, d, d, d, d]
}`, ``, false, true},
		"two answers": {`decision := true if input.resource.id == "d1"

decision := {"decision": true} if input.action.name == "read"`, ``, false, true},
		"a built-in that fails": {`decision if to_number(input.resource.properties.owner) == 1`, ``, false, true},
		"too long":              {"decision if {\n\tinput.resource.id == \"d1\"\n\t" + policytest.Endless + "\n}", ``, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			limit := 10 * time.Second
			if name == "too long" {
				limit = 100 * time.Millisecond
			}
			e := newEngine(t, withApp(t, c.rules), engine.Options{Deadline: limit})
			for range 2 { // the second time from the cache
				d, err := e.DecideApp(t.Context(), appQuestion(`{"owner": "bob"}`))
				if c.fails {
					if kind := resources.AsError(err).Kind; err == nil || kind != resources.KindUnavailable || d.Allowed || d.Reason != "" || d.Context != nil {
						t.Fatalf("got %+v, %v", d, err)
					}
					continue
				}
				says := map[bool]string{true: "app docs allows", false: "app docs denies"}[c.allow]
				if err != nil || d.Allowed != c.allow || d.Reason != says || d.PolicyRevision != e.Revision() || contextOf(d) != c.context {
					t.Fatalf("got %+v with %s, %v", d, contextOf(d), err)
				}
			}
		})
	}
}

// TestAnAppDecidesItsOwnTypesOnly guarantees that no app is asked about what it does not claim.
func TestAnAppDecidesItsOwnTypesOnly(t *testing.T) {
	e := newEngine(t, withApp(t, `decision := true`), engine.Options{})
	for _, name := range []string{"project", "account", "Doc", "doc ", "", "book"} {
		if _, ok := e.Pin().App(name); ok {
			t.Errorf("an app claims %q", name)
		}
		q := appQuestion(`{}`)
		q.App.ResourceType = name
		q.App.Resource, _ = json.Marshal(map[string]string{"type": name})
		if d, err := e.DecideApp(t.Context(), q); err == nil || d.Allowed {
			t.Errorf("%q: %+v, %v", name, d, err)
		}
	}
	for sent, allow := range map[string]bool{
		`{"type": "doc"}`: true, `{"type": "page"}`: false, `{"type": "book"}`: false, `{}`: false, `{"type": 1}`: false, `{"type": ["doc"]}`: false,
	} {
		q := appQuestion(`{}`)
		q.App.Resource = []byte(sent)
		if d, err := e.DecideApp(t.Context(), q); d.Allowed != allow || (err == nil) != allow {
			t.Errorf("a doc sent as %s: %+v, %v", sent, d, err)
		}
	}
	if app, ok := e.Pin().App("page"); !ok || app.Name != "docs" || strings.Join(app.Types, " ") != "doc page" {
		t.Errorf("got %+v", app)
	}
}

// TestWhatNoAppIsGiven guarantees that the engine rejects a question as the client's fault if it is not a JSON object
// or has numbers with costly arithmetic. It rejects facts of another account as well.
func TestWhatNoAppIsGiven(t *testing.T) {
	e := newEngine(t, withApp(t, `decision := true`), engine.Options{})
	for sent, fits := range map[string]bool{
		`{"type": "doc"}`: true, `null`: false, `[]`: false, `"x"`: false, `{`: false, ``: false,
		`{"n": 1e400}`: true, `{"n": 1e401}`: false, `{"n": [-1E-401]}`: false, `{"n": {"m": 1e99999999999999999999}}`: false,
		`{"n": ` + strings.Repeat("1", 128) + `}`: true, `{"n": ` + strings.Repeat("1", 129) + `}`: false,
	} {
		q := appQuestion(`{}`)
		q.App.Subject = []byte(sent)
		d, err := e.DecideApp(t.Context(), q)
		if d.Allowed != fits || (err == nil) != fits || err != nil && resources.AsError(err).Kind != resources.KindBadRequest {
			t.Errorf("%s: %+v, %v", sent, d, err)
		}
	}
	q := appQuestion(`{}`)
	q.AccountID = "acct-other-v1"
	if d, err := e.DecideApp(t.Context(), q); err == nil || d.Allowed {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestAnAppIsToldTheFacts guarantees every key of the facts, of a known user, of an unknown one and of none.
func TestAnAppIsToldTheFacts(t *testing.T) {
	e := newEngine(t, withApp(t, `decision := {"decision": true, "context": {"facts": input.facts}}`), engine.Options{})
	held := policytest.AdminSubject()
	held.Assignments[0].ExpiresAt = 1_767_225_600_000
	held.Assignments = append(held.Assignments, resources.HeldRole{
		RoleID: "role-own-v1", RoleScope: "RESOURCE", RoleStatus: "ACTIVE", Custom: true, Permissions: []string{"project:a:b"},
		ProjectID: "proj-demo-v1", ResourceID: "docs/d1", Status: "INACTIVE",
	})
	const principal = `"principal":{"account":"","credential":"token","id":"service-x","key_scopes":{},"kind":"service","scopes":{"authz:check":true},"uuid":""},`
	for name, c := range map[string]struct {
		subject *resources.Subject
		account string
		want    string
	}{
		"a known user": {held, "acct-demo-v1", `{"account":{"exists":true,"id":"acct-demo-v1","status":"ACTIVE"},"assignments":[` +
			`{"custom":false,"expires":1767225600000,"level":"ACCOUNT","project":"","resource":"","role":"account_admin","role_scope":"ACCOUNT","role_status":"ACTIVE","running":false,"status":"ACTIVE"},` +
			`{"custom":true,"expires":253402300799999,"level":"RESOURCE","project":"proj-demo-v1","resource":"docs/d1","role":"role-own-v1","role_scope":"RESOURCE","role_status":"ACTIVE","running":true,"status":"INACTIVE"}` +
			`],"member":true,"now":1767225600000,` + principal + `"roles":[{"id":"role-own-v1","permissions":{"project:a:b":true},"scope":"RESOURCE"}],"status":"ACTIVE"}`},
		"an unknown user": {
			&resources.Subject{AccountID: "acct-demo-v1", AccountExists: true, AccountStatus: "SUSPENDED", UserID: "user-x"}, "acct-demo-v1",
			`{"account":{"exists":true,"id":"acct-demo-v1","status":"SUSPENDED"},"assignments":[],"member":false,"now":1767225600000,` + principal + `"roles":[],"status":""}`,
		},
		"no facts":   {nil, "acct-demo-v1", `{"account":{"exists":false,"id":"acct-demo-v1","status":""},"assignments":[],"member":false,"now":1767225600000,` + principal + `"roles":[],"status":""}`},
		"no account": {nil, "", `{"account":{"exists":false,"id":"","status":""},"assignments":[],"member":false,"now":1767225600000,` + principal + `"roles":[],"status":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			q := appQuestion(`{}`)
			q.AccountID, q.Facts.Subject = c.account, c.subject
			d, err := e.DecideApp(t.Context(), q)
			if got := contextOf(d); err != nil || got != `{"facts":`+c.want+`}` {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}
