package proof_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTheEmbeddedTreeProvesItself guarantees that Load accepts the embedded tree, and sorts its routes and permissions.
func TestTheEmbeddedTreeProvesItself(t *testing.T) {
	e := must.Get(load(t, policies.Tree()))(t)
	if len(e.Routes()) == 0 || len(e.Roles()) < 5 || len(e.Revision()) != 12 {
		t.Errorf("%d routes, %d roles, revision %q", len(e.Routes()), len(e.Roles()), e.Revision())
	}
	if !slices.IsSortedFunc(e.Routes(), func(a, b resources.Route) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("routes are not sorted by name")
	}
	for _, r := range e.Roles() {
		if r.IsCustom || r.Status != "ACTIVE" || len(r.Permissions) == 0 || !slices.IsSorted(r.Permissions) {
			t.Errorf("role %+v", r)
		}
	}
}

// TestATreeThatProvesNothingIsRefused guarantees that Load rejects a tree with a fault, and reports it in one line with
// its place.
func TestATreeThatProvesNothingIsRefused(t *testing.T) {
	small := policytest.Small(t)
	rule := func(body string) policytest.Tree { return small.With("authz/more.rego", "package authz\n\n"+body) }
	authz := func(old, text string) policytest.Tree {
		return small.With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, old, text, 1))
	}
	routes := func(old, text string) policytest.Tree {
		return small.With("routes/data.json", strings.Replace(policytest.SmallRoutes, old, text, 1))
	}
	grants := func(old, text string) policytest.Tree {
		return small.With("grants/data.json", strings.Replace(policytest.SmallGrants, old, text, 1))
	}
	schemas := policytest.Copy(t, policies.Tree())
	actions := func(listed string) policytest.Tree {
		return small.With("schemas/actions/schema.json", string(schemas["schemas/actions/schema.json"].Data)).With("actions/data.json", listed)
	}
	for name, c := range map[string]struct {
		tree policytest.Tree
		want []string // in one line
	}{
		"syntax":         {rule("x := {"), []string{"authz/more.rego:3: rego_parse_error"}},
		"misspelt input": {rule("x if input.acton.id"), []string{"authz/more.rego:3: rego_type_error: undefined ref: input.acton.id", `"action"`, `"subject"`}},
		"misspelt input, other package": {
			small.With("other/x.rego", "package other\n\nx if input.acton.id"),
			[]string{"other/x.rego:3: rego_type_error: undefined ref: input.acton.id"},
		},
		"misspelt data":   {rule("x if data.grants.account_admin.permisions"), []string{"authz/more.rego:3: rego_type_error: undefined ref", "permissions"}},
		"unused variable": {rule("x if { y := 1 }"), []string{"authz/more.rego:3: rego_compile_error: assigned var y unused"}},
		"http.send":       {rule(`x := http.send({"url": "http://127.0.0.1/", "method": "get"})`), []string{"authz/more.rego:3", "undefined function http.send", "no network"}},
		"lookup":          {rule(`x := net.lookup_ip_addr("a")`), []string{"net.lookup_ip_addr", "no network"}},
		"runtime":         {rule(`x := opa.runtime()`), []string{"opa.runtime", "environment"}},
		"shift":           {rule(`x := bits.lsh(1, input.now)`), []string{"authz/more.rego:3", "undefined function bits.lsh", "nothing bounds its work"}},
		"all paths":       {rule(`x := graph.reachable_paths({}, [])`), []string{"graph.reachable_paths", "nothing bounds its work"}},
		"index of all":    {rule(`x := indexof_n("a", "")`), []string{"indexof_n", "nothing bounds its work"}},
		"own schema":      {rule(`x := json.match_schema({}, {})`), []string{"json.match_schema", "nothing bounds its work"}},
		"template":        {rule(`x := strings.render_template("", {})`), []string{"strings.render_template", "nothing bounds its work"}},
		"signing":         {rule(`x := io.jwt.encode_sign({}, {}, {})`), []string{"io.jwt.encode_sign", "credentials"}},
		"no tests":        {small.Without("authz/authz_test.rego"), []string{"policy tests: there are none"}},
		"failing test":    {small.With("authz/b_test.rego", "package authz_test\n\ntest_b if false"), []string{"authz/b_test.rego:3: test test_b failed"}},
		"failing cases of a table": {
			small.With("authz/b_test.rego", "package authz_test\n\ntest_b[n] if {\n\tsome n in {\"x\", \"y\", \"z\"}\n\tn == \"x\"\n}"),
			[]string{"authz/b_test.rego:3: test test_b failed: y, z"},
		},
		"failing cases of a table of tables": {
			small.With("authz/b_test.rego", "package authz_test\n\ntest_b[m][n] := v if {\n\tsome m in [1, 2]\n\tsome n, v in {\"x\": true, \"y\": m == 1, \"z\": 3}\n\tany([m == 1, n != \"x\"])\n}\n\nany(list) if true in list"),
			[]string{"authz/b_test.rego:3: test test_b failed: 1/z, 2/x, 2/y, 2/z"},
		},
		"failing test of two of one name": {
			small.With("authz/b_test.rego", "package authz_test\n\ntest_b if true\n\ntest_b if false"),
			[]string{"authz/b_test.rego:5: test test_b#01 failed"},
		},
		"test with two values":  {small.With("authz/b_test.rego", "package authz_test\n\ntest_b[\"x\"] := v if some v in [true, false]"), []string{"authz/b_test.rego:3: test test_b failed: ", "conflict"}},
		"test with an error":    {small.With("authz/b_test.rego", "package authz_test\n\ntest_b if not to_number(\"x\")"), []string{"authz/b_test.rego:3: test test_b failed", "to_number"}},
		"test switched off":     {small.With("authz/b_test.rego", "package authz_test\n\ntodo_test_b if false"), []string{"authz/b_test.rego:3: test todo_test_b is switched off"}},
		"test in the package":   {small.With("authz/b_test.rego", "package authz\n\ntest_b if true"), []string{"authz/b_test.rego:1: a test file's package must end in _test"}},
		"default allows":        {authz(`default decision := {"allow": false`, `default decision := {"allow": true`), []string{"authz/authz.rego:10: authz.decision allows nobody in particular"}},
		"access allows":         {authz(`default access := {"allow": false`, `default access := {"allow": true`), []string{"authz.access allows nobody in particular"}},
		"grantable allows":      {authz(`default grantable := {"allow": false`, `default grantable := {"allow": true`), []string{"authz.grantable allows nobody in particular"}},
		"default never reached": {authz("default decision := {\"allow\": false, \"reason\": \"no\"}", "default decision := {\"allow\": true, \"reason\": \"no\"}\n\ndecision := {\"allow\": false, \"reason\": \"x\"} if not input.subject.exists"), []string{"authz/authz.rego:10: authz.decision allows by default"}},
		"undefined":             {authz(`default grantable := {"allow": false, "reason": "no"}`, `grantable := {"allow": true, "reason": "x"} if input.now == 7`), []string{"authz.grantable has no answer", "undefined"}},
		"no entry point":        {authz(`default grantable`, `default granted`), []string{"data.authz.grantable: there is no such rule"}},
		"data under a rule":     {small.With("authz/decision/data.json", `{}`), []string{"conflict"}},
		"stray file":            {small.With("grants/more.yaml", "a: 1"), []string{"grants/more.yaml: isn't read: data belongs in a file named data.json"}},
		"no schema":             {small.Without("schemas/input/schema.json"), []string{"schemas/input/schema.json: is missing"}},
		"no routes":             {small.Without("routes/data.json"), []string{"routes/data.json: is missing"}},
		"grants no JSON":        {small.With("grants/data.json", "{\n\n]"), []string{"grants/data.json:3: isn't a JSON object"}},
		"grants null":           {small.With("grants/data.json", "\nnull"), []string{"grants/data.json:2: isn't a JSON object: null"}},
		"grants a list":         {small.With("grants/data.json", "\n[{}]"), []string{"grants/data.json:2: isn't a JSON object: array"}},
		"grants cut off":        {small.With("grants/data.json", "{\n\"a\": {"), []string{"grants/data.json:2: isn't a JSON object: unexpected EOF"}},
		"grants in the deep":    {small.With("grants/data.json", `{"a": `+strings.Repeat("[", 1<<20)), []string{"grants/data.json:1: isn't a JSON object: exceeded max depth"}},
		"data in data's place":  {small.With("a/data.json", `{"x": {"c": 1}}`).With("a/x/data.json", `{"c": 2}`), []string{"a/x/data.json: another data.json already has data of this name"}},
		"a role in the root":    {small.With("data.json", `{"x": 1, "grants": {"hidden": {}}}`), []string{"data.json: holds a part of data.grants, which belongs in grants/"}},
		"a route in the root":   {small.With("data.json", `{"routes": {}}`), []string{"data.json: holds a part of data.routes, "}},
		"strict in the root":    {small.With("data.json", `{"actions": {"strict": true}}`), []string{"data.json: holds a part of data.actions, "}},
		"a server in the root":  {small.With("data.json", `{"mcp": {"desk": {}}}`), []string{"data.json: holds a part of data.mcp, "}},
		"a role's own folder":   {small.With("grants/hidden/data.json", `{"name": "H"}`), []string{"grants/hidden/data.json: holds a part of data.grants, "}},
		"data below a number":   {small.With("a/data.json", `{"x": 1}`).With("a/x/data.json", `{"c": 2}`), []string{"a/x/data.json: another data.json already has data of this name"}},
		"more than an object":   {small.With("grants/data.json", policytest.SmallGrants+"{}"), []string{"there is more after the JSON object"}},
		"nothing in a file":     {small.With("authz/nothing.rego", ""), []string{"authz/nothing.rego: rego_parse_error: empty module"}},
		"twice":                 {grants(`"scope": "ACCOUNT"`, "\"scope\": \"PROJECT\",\n\"scope\": \"ACCOUNT\""), []string{"grants/data.json:4: account_admin.scope is given twice, first in line 3"}},
		"unknown scope":         {grants("ACCOUNT", "GALAXY"), []string{"grants/data.json:3: account_admin.scope"}},
		"permission is false":   {grants(`"project:*:*": true`, `"project:*:*": false`), []string{"grants/data.json:4: account_admin.permissions.project:*:*"}},
		"unknown field":         {grants(`"scope"`, `"colour": "red", "scope"`), []string{"grants/data.json:2: account_admin", "colour"}},
		"unknown method":        {routes("POST", "FETCH"), []string{"routes/data.json:3: authorization.check.method"}},
		"unknown access":        {routes("asks_self", "anybody"), []string{"routes/data.json:4: authorization.check.access.0"}},
		"unknown service scope": {routes("service:authz:check", "service:authz:chek"), []string{"routes/data.json:4: authorization.check: access \"service:authz:chek\""}},
		"action nobody has":     {routes("account:authorization", "resource:authorization"), []string{"routes/data.json:3: authorization.check: action resource:authorization:check is granted by no system role"}},
		"actions a list":        {actions("[]"), []string{"actions/data.json:1: isn't a JSON object: array"}},
		"actions' schema gone":  {actions("{}").Without("schemas/actions/schema.json"), []string{"schemas/actions/schema.json: is missing"}},
		"strict is a word":      {actions("{\n\"strict\": \"yes\"}"), []string{"actions/data.json:2: strict: "}},
		"unknown list":          {actions(`{"unknown": {}}`), []string{"actions/data.json", "unknown"}},
		"action is a pattern":   {actions("{\"known\": {\n\"project:*:read\": {\"description\": \"x\"}}}"), []string{"actions/data.json:1: known: "}},
		"action is not told":    {actions("{\"known\": {\n\"project:a:read\": {}}}"), []string{"actions/data.json:2: known.project:a:read: description is required"}},
		"same place": {
			routes("{\n  \"authorization.check\"", `{"account.get": {"method": "POST", "path": "/api/v1/authorize/{proxy+}", "access": ["public"], "effect": "read", "area": "access", "upstream": "x"},`+"\n\"authorization.check\""),
			[]string{"routes/data.json:3: authorization.check: POST /api/v1/authorize/{proxy+} is already the place of account.get"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.tree)
			var problems proof.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v", err)
			}
			if !slices.ContainsFunc(problems, func(line string) bool {
				return !slices.ContainsFunc(c.want, func(part string) bool { return !strings.Contains(line, part) })
			}) {
				t.Errorf("no line has all of %q:\n%v", c.want, err)
			}
		})
	}
}

// TestDataIsMountedBelowData guarantees that the documents of nested folders are one value, as OPA's own commands read
// them. The value equals the same value in a rule, also as a member of a set (by its hash).
func TestDataIsMountedBelowData(t *testing.T) {
	tree := policytest.Small(t).With("a/data.json", `{"x": {"c": [1, 2.50]}}`).With("a/x/data.json", `{"y": {"e": null}}`).With("a/x/y/z/data.json", `{"g": true}`)
	tree = tree.With("authz/b_test.rego", `package authz_test

whole := {"x": {"c": [1, 2.5], "y": {"e": null, "z": {"g": true}}}}

test_equal if data.a == whole

test_member if whole in {data.a}
`)
	if _, err := load(t, tree); err != nil {
		t.Error(err)
	}
}

// TestAllProblemsAreToldAtOnce guarantees that one error reports the problems of several files, one a line.
func TestAllProblemsAreToldAtOnce(t *testing.T) {
	tree := policytest.Small(t).With("authz/x.rego", "package authz\n\nx := {").With("authz/y.rego", "package authz\n\ny := }").
		With("grants/data.json", "[]")
	_, err := load(t, tree)
	for _, want := range []string{"authz/x.rego:3: ", "\nauthz/y.rego:3: ", "\ngrants/data.json:1: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

// TestEndlessTestsAreCut guarantees that Load cancels endless tests.
func TestEndlessTestsAreCut(t *testing.T) {
	tree := policytest.Small(t).With("authz/b_test.rego", "package authz_test\n\ntest_b if "+policytest.Endless)
	src, err := policies.Read(tree)
	must.Do(t, err)
	err = proof.ProveWithin(t.Context(), src, 200*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "not finished within 200ms") {
		t.Errorf("got %v", err)
	}
}

// TestABoundedBuiltInIsNoStandIn guarantees that a `with` can't replace a function by a bounded built-in. It can
// replace one by a function of the tree or by a value.
func TestABoundedBuiltInIsNoStandIn(t *testing.T) {
	tree := policytest.Small(t).With("authz/b.rego", "package authz\n\ntext(x) := lower(x)\n\nlong if count(text(\"a\")) > 0 with lower as upper")
	_, err := load(t, tree)
	if err == nil || !strings.Contains(err.Error(), "authz/b.rego:5: upper can't replace lower") {
		t.Errorf("got %v", err)
	}
	mock := policytest.Small(t).With("authz/b_test.rego", `package authz_test

text(x) := lower(x)

louder(x) := upper(x)

test_own if text("a") == "A" with lower as louder

test_value if text("a") == "b" with lower as "b"
`)
	if _, err := load(t, mock); err != nil {
		t.Error(err)
	}
}

// load proves a tree in memory.
func load(tb testing.TB, tree fs.FS) (*engine.Set, error) {
	tb.Helper()
	src := must.Get(policies.Read(tree))(tb)
	return proof.Load(context.Background(), src)
}

// TestOnlyAProofCompilesTheTests guarantees that Compile accepts a tree with malformed tests. Load rejects it.
func TestOnlyAProofCompilesTheTests(t *testing.T) {
	tree := policytest.Small(t).With("authz/authz_test.rego", policytest.SmallTest+"\ntest_nothing if nobody(1)\n")
	src := must.Get(policies.Read(tree))(t)
	if _, _, err := proof.Compile(t.Context(), src); err != nil {
		t.Errorf("compiled: %v", err)
	}
	if _, err := proof.Load(t.Context(), src); err == nil || !strings.Contains(err.Error(), "authz/authz_test.rego:7") || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("proved: %v", err)
	}
}
