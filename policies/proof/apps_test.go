package proof_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// docs are the rules of a valid app.
const docs = `package apps.docs

types := {"doc"}

subjects := {{"type": "user", "id": id} | some id in data.apps.docs.people}

resources := {{"type": "doc", "id": "d1"}, {"type": "doc", "id": "d0"}}

actions := {{"name": "write"}, {"name": "read"}}

default decision := false

decision if {
	input.resource.properties.owner == input.subject.id
	input.facts.member
}
`

func withDocs(t *testing.T, rules string) policytest.Tree {
	t.Helper()
	schema := policytest.Copy(t, policies.Tree())["schemas/app/schema.json"]
	return policytest.Small(t).With("schemas/app/schema.json", string(schema.Data)).
		With("apps/docs/docs.rego", rules).With("apps/docs/data.json", `{"people": ["bob", "alice"]}`)
}

// TestTheSetsOfAnAppAreRead guarantees that engine.Set returns the subjects, resources and actions of an app, sorted.
// An empty set is not nil; a missing one is.
func TestTheSetsOfAnAppAreRead(t *testing.T) {
	set := must.Get(load(t, withDocs(t, docs)))(t)
	app, ok := set.App("doc")
	if !ok || app.Name != "docs" || !slices.Equal(app.Types, []string{"doc"}) || !slices.Equal(app.Actions, []string{"read", "write"}) ||
		!slices.Equal(app.Subjects, []resources.Entity{{Type: "user", ID: "alice"}, {Type: "user", ID: "bob"}}) ||
		!slices.Equal(app.Resources, []resources.Entity{{Type: "doc", ID: "d0"}, {Type: "doc", ID: "d1"}}) {
		t.Errorf("got %+v", app)
	}
	set = must.Get(load(t, withDocs(t, "package apps.docs\n\ntypes contains \"doc\"\n\ndecision := false\n\nsubjects := set()\n")))(t)
	if app, _ = set.App("doc"); app.Subjects == nil || app.Resources != nil || app.Actions != nil {
		t.Errorf("got %+v", app)
	}
}

// TestAnAppThatProvesNothingIsRefused guarantees that each fault of an app is reported with its place.
func TestAnAppThatProvesNothingIsRefused(t *testing.T) {
	fine := withDocs(t, docs)
	change := func(old, text string) policytest.Tree {
		if !strings.Contains(docs, old) {
			t.Fatalf("no %q", old)
		}
		return fine.With("apps/docs/docs.rego", strings.Replace(docs, old, text, 1))
	}
	more := func(rules string) policytest.Tree { return fine.With("apps/docs/docs.rego", docs+"\n"+rules) }
	for name, c := range map[string]struct {
		tree policytest.Tree
		want string
	}{
		"misspelt fact":           {change("facts.member", "facts.membr"), `apps/docs/docs.rego:15: rego_type_error: undefined ref: input.facts.membr`},
		"misspelt part":           {change("input.subject.id", "input.subjet.id"), `apps/docs/docs.rego:14: rego_type_error: undefined ref: input.subjet.id`},
		"misspelt assignment":     {more("held if {\n\tsome a in input.facts.assignments\n\ta.roll == \"x\"\n}"), "rego_type_error: undefined ref: a.roll"},
		"the native input":        {change("input.facts.member", `input.target.project == ""`), "undefined ref: input.target.project"},
		"no network":              {more(`x := http.send({"url": "http://127.0.0.1/", "method": "get"})`), "undefined function http.send"},
		"its own test fails":      {fine.With("apps/docs/docs_test.rego", "package apps.docs_test\n\nimport data.apps.docs\n\ntest_a if docs.decision with input as {}"), "apps/docs/docs_test.rego:5: test test_a failed"},
		"no schema":               {fine.Without("schemas/app/schema.json"), "schemas/app/schema.json: is missing: the rules of apps are checked against it; copy"},
		"another package":         {change("package apps.docs", "package apps.books"), "apps/docs/docs.rego:1: the package must be apps.docs, not data.apps.books"},
		"a package below":         {change("package apps.docs", "package apps.docs.more"), "apps/docs/docs.rego:1: the package must be apps.docs, not data.apps.docs.more"},
		"a test's package":        {fine.With("apps/docs/docs_test.rego", "package apps.books_test\n\ntest_a if true"), "apps/docs/docs_test.rego:1: the package must be apps.docs_test, not data.apps.books_test"},
		"an app elsewhere":        {fine.With("authz/more.rego", "package apps.books\n\nx := 1"), "authz/more.rego:1: package data.apps.books is that of an app: its files are in apps/books"},
		"a test elsewhere":        {fine.With("authz/more_test.rego", "package apps.docs_test\n\ntest_a if true"), "authz/more_test.rego:1: package data.apps.docs_test is that of an app"},
		"all apps at once":        {fine.With("authz/more.rego", "package apps\n\ndocs := 1"), "authz/more.rego:1: package data.apps is that of an app"},
		"a file of no app":        {fine.With("apps/data.json", "{}"), "apps/data.json: is not in the folder of an app: move it to apps/<name>/"},
		"an app of data only":     {fine.With("apps/books/data.json", "{}"), "apps/books: has no rules: it needs a package apps.books with types and decision"},
		"an app of tests only":    {fine.With("apps/books/books_test.rego", "package apps.books_test\n\ntest_a if true"), "apps/books: has no rules"},
		"no types":                {change("types", "kinds"), "apps/docs: there is no rule types: say about which types"},
		"no decision":             {fine.With("apps/docs/docs.rego", "package apps.docs\n\ntypes := {\"doc\"}"), "apps/docs: there is no rule decision"},
		"a decision of parts":     {fine.With("apps/docs/docs.rego", "package apps.docs\n\ntypes := {\"doc\"}\n\ndecision contains \"x\""), "apps/docs/docs.rego:5: decision must be a rule with one value"},
		"a decision by names":     {fine.With("apps/docs/docs.rego", "package apps.docs\n\ntypes := {\"doc\"}\n\ndecision.decision := true"), "there is no rule decision"},
		"a function":              {fine.With("apps/docs/docs.rego", "package apps.docs\n\ntypes := {\"doc\"}\n\ndecision(x) := x"), "apps/docs/docs.rego:5: decision must be a rule with one value"},
		"allows by default":       {change("default decision := false", "default decision := true"), "apps/docs/docs.rego:11: decision allows by default"},
		"an object by default":    {change("default decision := false", `default decision := {"decision": true}`), "apps/docs/docs.rego:11: decision allows by default"},
		"an ill-typed default":    {change("default decision := false", `default decision := {"allow": false}`), "apps/docs/docs.rego:11: decision allows by default"},
		"an ill-typed answer":     {change("decision if {", "decision := 7 if {\n\tnot input.context.x\n}\n\ndecision if {"), "apps.docs.decision has no answer to the question of nobody about nothing: ill_typed"},
		"ill-typed about a type":  {change("decision if {", "decision := 7 if input.resource.type == \"doc\"\n\ndecision if {"), "apps.docs.decision has no answer to the question of a subject that is no user about doc: ill_typed"},
		"ill-typed of a user":     {change("decision if {", "decision := 7 if input.subject.type == \"user\"\n\ndecision if {"), "apps.docs.decision has no answer to the question of a user who is not known about doc: ill_typed"},
		"ill-typed of a member":   {change("decision if {", "decision := 7 if input.facts.member\n\ndecision if {"), "apps.docs.decision has no answer to the question of a member who holds no role about doc: ill_typed"},
		"a conflict":              {change("decision if {", "decision := {\"decision\": false} if not input.context.x\n\ndecision if not input.context.x\n\ndecision if {"), "apps.docs.decision has no answer to the question of nobody about nothing: conflict"},
		"a native type":           {change(`types := {"doc"}`, `types := {"security_group"}`), `apps/docs/docs.rego:3: types claims "security_group", which is a type of the platform: choose another name`},
		"a type of another app":   {fine.With("apps/zoo/zoo.rego", "package apps.zoo\n\ntypes := {\"doc\"}\n\ndecision := false"), `apps/zoo/zoo.rego:3: types claims "doc", which app docs claims too: leave it out of one of them`},
		"types a list":            {change(`types := {"doc"}`, `types := ["doc"]`), "apps/docs/docs.rego:3: types must be a set, not array"},
		"types empty":             {change(`types := {"doc"}`, `types := set()`), "apps/docs/docs.rego:3: types must be a set of one or more strings, none of them empty"},
		"a type empty":            {change(`types := {"doc"}`, `types := {"doc", ""}`), "apps/docs/docs.rego:3: types must be a set of one or more strings"},
		"a type a number":         {change(`types := {"doc"}`, `types := {"doc", 1}`), "apps/docs/docs.rego:3: types must be a set of one or more strings"},
		"types of the input":      {change(`types := {"doc"}`, `types := {input.resource.type}`), "apps/docs/docs.rego:3: types reads the input, the time or chance: it must be the same for every question"},
		"types by chance":         {change(`types := {"doc"}`, `types := {uuid.rfc4122("a")}`), "apps/docs/docs.rego:3: types reads the input, the time or chance"},
		"types undefined":         {change(`types := {"doc"}`, `types := {"doc"} if data.apps.docs.absent`), "apps/docs/docs.rego:3: types has no value: it is undefined"},
		"types that fail":         {change(`types := {"doc"}`, `types := {to_number(x) | some x in data.apps.docs.people}`), "apps/docs/docs.rego:3: types has no value: "},
		"types without an end":    {change(`types := {"doc"}`, "types := {x | some x in numbers.range(1, 100000000)}"), "apps/docs/docs.rego:3: types has no value: "},
		"actions of texts":        {change(`{{"name": "write"}, {"name": "read"}}`, `{"write"}`), `apps/docs/docs.rego:9: actions must be a set of {"name": string}`},
		"actions with more":       {change(`{{"name": "write"}, {"name": "read"}}`, `{{"name": "a", "b": 1}}`), `apps/docs/docs.rego:9: actions must be a set of {"name": string}`},
		"subjects of texts":       {change(`{"type": "user", "id": id}`, "id"), `apps/docs/docs.rego:5: subjects must be a set of {"type": string, "id": string}`},
		"subjects without a type": {change(`{"type": "user", "id": id}`, `{"id": id}`), `apps/docs/docs.rego:5: subjects must be a set of`},
		"an id a number":          {change(`{"type": "doc", "id": "d1"}`, `{"type": "doc", "id": 1}`), `apps/docs/docs.rego:7: resources must be a set of`},
		"more than an id":         {change(`{"type": "doc", "id": "d1"}`, `{"type": "doc", "id": "d1", "x": 1}`), `apps/docs/docs.rego:7: resources must be a set of`},
		"resources not its own":   {change(`{"type": "doc", "id": "d1"}`, `{"type": "book", "id": "d1"}`), `apps/docs/docs.rego:7: resources has "d1" of type "book", which is none of the app's types`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.tree)
			var problems proof.Problems
			if !errors.As(err, &problems) || !slices.ContainsFunc(problems, func(line string) bool { return strings.Contains(line, c.want) }) {
				t.Errorf("no %q in:\n%v", c.want, err)
			}
		})
	}
}

// TestTheSchemaOfAppsIsThatOfAppsOnly guarantees that other rules of the tree keep the schema of their input. An app
// may name its schema in an annotation, as editors and `opa check` need it.
func TestTheSchemaOfAppsIsThatOfAppsOnly(t *testing.T) {
	if _, err := load(t, withDocs(t, docs).With("other/x.rego", "package other\n\nx if input.facts.member")); err == nil || !strings.Contains(err.Error(), "undefined ref: input.facts") {
		t.Errorf("got %v", err)
	}
	named := "# METADATA\n# scope: package\n# schemas:\n#   - input: schema.app.schema\n" + docs
	must.Get(load(t, withDocs(t, named)))(t)
	titled := "# METADATA\n# scope: package\n# title: Documents\n" + docs
	must.Get(load(t, withDocs(t, titled)))(t)
	if _, err := load(t, withDocs(t, strings.Replace(titled, "facts.member", "facts.membr", 1))); err == nil {
		t.Error("a package with an annotation of its own is not checked against the schema")
	}
}
