package guards_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

const guard = `package guards

deny contains "nobody new may delete" if {
	some row in input.new_access
	endswith(row.action, ":delete")
}
`

// small is the small tree with guards, and a test of them.
func small(t *testing.T, text string) policytest.Tree {
	t.Helper()
	return policytest.Small(t).With("guards/guards.rego", text)
}

func source(tb testing.TB, tree policytest.Tree) *policies.Source {
	tb.Helper()
	src, err := policies.Read(tree)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func compiled(tb testing.TB, tree policytest.Tree) *engine.Set {
	tb.Helper()
	set, _, err := proof.Compile(context.Background(), source(tb, tree))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// deleting lets members delete projects; the actions are the catalogue's.
func deleting(tree policytest.Tree) policytest.Tree {
	return tree.With("grants/data.json", strings.Replace(policytest.SmallGrants, "}\n}", `},
  "cleaner": {"name": "Cleaner", "scope": "ACCOUNT", "description": "Deletes.", "permissions": {"account:project:delete": true}}
}`, 1)).With("routes/data.json", strings.Replace(policytest.SmallRoutes, "}\n}", `},
  "project.delete": {"method": "DELETE", "path": "/p/{projectId}", "action": "account:project:delete", "effect": "write", "upstream": "access"}
}`, 1))
}

// TestGuardRefuses a change that it is about, and takes another.
func TestGuardRefuses(t *testing.T) {
	before := small(t, guard)
	err := guards.Check(t.Context(), compiled(t, before), compiled(t, deleting(before)))
	if err == nil || err.Error() != "guards: nobody new may delete" {
		t.Errorf("got %v", err)
	}
	other := before.With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, `"reason": "no"`, `"reason": "never"`, 1))
	if err := guards.Check(t.Context(), compiled(t, before), compiled(t, other)); err != nil {
		t.Errorf("another change: %v", err)
	}
	if err := guards.Check(t.Context(), compiled(t, policytest.Small(t)), compiled(t, deleting(before))); err != nil {
		t.Errorf("a tree without guards refuses: %v", err)
	}
}

// TestGuardIsTakenAwayByTwoReloads: the first one says so, and nothing shorter does it, nor a changed guard or helper.
func TestGuardIsTakenAwayByTwoReloads(t *testing.T) {
	const leave = "\nremovable contains \"nobody new may delete\"\n"
	ctx, refusals := t.Context(), []error{}
	e, err := engine.New(ctx, small(t, guard), proof.Load, engine.Options{
		CheckChange: guards.Check, Observer: engine.Observer{Refused: func(_ *policies.Source, err error) { refusals = append(refusals, err) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string, tree policytest.Tree, want string) {
		t.Helper()
		was := e.Revision()
		if err := e.Reload(ctx, tree); err == nil || !strings.Contains(err.Error(), want) || e.Revision() != was {
			t.Errorf("%s: %v", name, err)
		}
	}
	const missing = `guards: "nobody new may delete" is missing or changed`
	refused("taken away", policytest.Small(t), missing)
	refused("taken away and said at once", small(t, "package guards\n"+leave), missing)
	refused("changed", small(t, strings.Replace(guard, ":delete", ":destroy", 1)), missing)
	refused("weakened", small(t, strings.Replace(guard, "some row", "false\n\tsome row", 1)), missing)
	refused("what it guards", deleting(small(t, guard)), "guards: nobody new may delete")
	refused("both at once", deleting(policytest.Small(t)), missing)
	if err := e.Reload(ctx, small(t, guard+leave)); err != nil {
		t.Fatalf("the first reload: %v", err)
	}
	refused("what it guards, still", deleting(small(t, guard+leave)), "guards: nobody new may delete")
	if err := e.Reload(ctx, policytest.Small(t)); err != nil {
		t.Fatalf("the second reload: %v", err)
	}
	if err := e.Reload(ctx, deleting(policytest.Small(t))); err != nil {
		t.Fatalf("without the guard: %v", err)
	}
	if len(refusals) != 7 {
		t.Errorf("%d refusals were told", len(refusals))
	}
}

// TestGuardsFailClosed: a guard that fails, loops, says no text, or is asked about a comparison with gaps refuses.
func TestGuardsFailClosed(t *testing.T) {
	const head = "package guards\n\n"
	gap := func(tree policytest.Tree) policytest.Tree {
		return tree.With("authz/authz.rego", strings.Replace(policytest.SmallAuthz,
			"input.subject.status == \"ACTIVE\"", "input.subject.status == \"ACTIVE\"\n\tstartswith(input.target.rest, \"things\")", 1))
	}
	for name, c := range map[string]struct {
		guards string
		change func(policytest.Tree) policytest.Tree
		want   string
	}{
		"fails":          {head + `deny contains "x" if to_number(input.new_access[0].role) == 1`, deleting, "guards: a guard failed"},
		"no text":        {head + `deny contains 7 if count(input.new_access) > 0`, deleting, "guards: a reason that is no text"},
		"no set":         {head + `deny := true if count(input.new_access) > 0`, deleting, "must be a set of reasons"},
		"not exhaustive": {head + `deny contains "x" if false`, gap, "guards: the comparison is not exhaustive: authz/authz.rego:14 reads target.rest"},
		"a document of its own": {head + `deny contains "x" if data.guards.on`, func(tree policytest.Tree) policytest.Tree {
			return tree.With("guards/data.json", `{"on": false}`)
		}, "is missing or changed"},
	} {
		t.Run(name, func(t *testing.T) {
			before := small(t, c.guards)
			if strings.HasPrefix(name, "a document") {
				before = before.With("guards/data.json", `{"on": true}`)
			}
			if err := guards.Check(t.Context(), compiled(t, before), compiled(t, c.change(before))); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	for places, taken := range map[string]bool{
		`{"authz/authz.rego:decision"}`: true, `{"authz/authz.rego:access", "authz/authz.rego"}`: false, `true`: false,
		`["authz/authz.rego:decision"]`: false, `{"authz/authz.rego:decision" | to_number(input.removed_guards[_]) == 7}`: false,
	} {
		before := small(t, head+"deny contains \"x\" if false\n\nallow_not_exhaustive := "+places+"\n")
		if err := guards.Check(t.Context(), compiled(t, before), compiled(t, gap(before))); (err == nil) != taken {
			t.Errorf("with allow_not_exhaustive := %s: %v", places, err)
		}
	}
}

// TestAComparisonThatDoesNotEndIsRefused soon after its bound, also if the guards allow gaps.
func TestAComparisonThatDoesNotEndIsRefused(t *testing.T) {
	const bound, soon = time.Second, 20 * time.Second
	before := policytest.Copy(t, policies.Tree()).With("guards/guards.rego", "package guards\n\nallow_not_exhaustive := {\"authz/more.rego:met\", \"authz/more.rego:told\"}\n")
	next := before.With("authz/more.rego", "package authz\n\nmet contains \"needs_active_account\" if time.now_ns() > 4102444800000000000\n")
	prior, changed := compiled(t, before), compiled(t, next)
	began := time.Now()
	err := guards.CheckWithin(t.Context(), prior, changed, bound, time.Second)
	refused := guards.Refused(nil)
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "did not end within 1s") || !strings.Contains(err.Error(), "portcullis policy diff") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %s", took)
	}
}

// TestAMadeComparisonIsJudgedAsCheckDoes guarantees its answer for one, also if it took too long, and without guards.
func TestAMadeComparisonIsJudgedAsCheckDoes(t *testing.T) {
	guarded, bare := small(t, guard), policytest.Small(t)
	for name, c := range map[string]struct {
		tree policytest.Tree
		took time.Duration
		want string
	}{
		"in time": {guarded, time.Minute, "nobody new may delete"}, "too late": {guarded, time.Minute + 1, "did not end within 1m0s"}, "no guards": {bare, time.Hour, "<nil>"},
	} {
		old, next := compiled(t, c.tree), compiled(t, deleting(c.tree))
		report, err := diff.Compare(t.Context(), old, next, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := guards.Judge(t.Context(), old, next, report, c.took); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAWithIsRefused, also if the guards allow gaps: an entry point was not compared.
func TestAWithIsRefused(t *testing.T) {
	before := policytest.Copy(t, policies.Tree()).With("guards/guards.rego", "package guards\n\nallow_not_exhaustive := {\"authz/more.rego:met\", \"authz/more.rego:told\"}\n")
	next := before.With("authz/more.rego", `package authz

met contains "needs_active_account" if _x with input.action.verb as input.subject.id

_x if input.action.verb == "user-mallory-v1"
`)
	err := guards.Check(t.Context(), compiled(t, before), compiled(t, next))
	if err == nil || !strings.Contains(err.Error(), "authz/more.rego:3 reads what a `with` replaces: all questions to decision; write the rules so that all entry points are compared") {
		t.Errorf("got %v", err)
	}
	other := before.With("authz/more.rego", "package authz\n\ntold contains \"x\" if _x with input.action.verb as \"a\"\n\n_x if input.action.verb == \"a\"\n")
	if err := guards.Check(t.Context(), compiled(t, before), compiled(t, other)); err != nil {
		t.Errorf("of what an explanation tells: %v", err)
	}
}

// TestAChangedAppIsNotExhaustive: its own files, and the rules and data that it reads. An equal one is.
func TestAChangedAppIsNotExhaustive(t *testing.T) {
	const head, file = "package guards\n\ndeny contains \"x\" if false\n", "apps/docs/docs.rego"
	const rules = "package apps.docs\n\ntypes := {\"doc\"}\n\ndefault decision := false\n\ndecision if input.action.name in data.apps.docs.open\n"
	bare := small(t, head).With("schemas/app/schema.json", string(policytest.Copy(t, policies.Tree())["schemas/app/schema.json"].Data))
	before := bare.With(file, rules).With("apps/docs/data.json", `{"open": ["read"]}`)
	for name, c := range map[string]struct {
		old, next policytest.Tree
		want      string
	}{
		"a rule":   {before, before.With(file, strings.Replace(rules, "input.action.name in", "not input.action.name in", 1)), file + ":7"},
		"one more": {before, before.With(file, rules+"\ndecision if input.action.name == \"write\"\n"), file + ":9"},
		"a type":   {before, before.With(file, strings.Replace(rules, `"doc"`, `"doc", "page"`, 1)), file + ":3"},
		"its data": {before, before.With("apps/docs/data.json", `{"open": ["read", "write"]}`), file + ":3"},
		"added":    {bare, before, file + ":3"},
		"removed":  {before, bare, file + ":3"},
		"what it rests on": {
			before.With(file, rules+"\ndecision if data.lib.open\n").With("lib/lib.rego", "package lib\n\nopen if 1 == 2\n"),
			before.With(file, rules+"\ndecision if data.lib.open\n").With("lib/lib.rego", "package lib\n\nopen if 1 == 1\n"), file + ":9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := guards.Check(t.Context(), compiled(t, c.old), compiled(t, c.next))
			if err == nil || !strings.Contains(err.Error(), "not exhaustive: "+c.want+" reads what is asked of the app docs") {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := guards.Check(t.Context(), compiled(t, before), compiled(t, before.With(file, "# The app.\n"+rules))); err != nil {
		t.Errorf("an equal app: %v", err)
	}
	allowing := func(tree policytest.Tree) policytest.Tree {
		return tree.With("guards/guards.rego", head+"\nallow_not_exhaustive := {\"apps/docs/docs.rego:types\"}\n")
	}
	if err := guards.Check(t.Context(), compiled(t, allowing(bare)), compiled(t, allowing(before))); err != nil {
		t.Errorf("with allow_not_exhaustive: %v", err)
	}
}

// TestGuardsAreCheckedByTheProgramsSchema, not by the tree's own.
func TestGuardsAreCheckedByTheProgramsSchema(t *testing.T) {
	tree := small(t, strings.Replace(guard, "new_access", "new_acess", 1)).With("schemas/guards/schema.json", `{"type": "object"}`)
	if _, _, err := proof.Compile(t.Context(), source(t, tree)); err == nil || !strings.Contains(err.Error(), "guards/guards.rego") {
		t.Errorf("got %v", err)
	}
}

// TestGuardsSeeMovedRows: a row for other calls is a new one. Calls of a removed row are calls of the row that takes them
// now.
func TestGuardsSeeMovedRows(t *testing.T) {
	const head, words = "package guards\n\ndeny contains sprintf(\"new: %s\", [row.route]) if some row in input.new_access\n", `"effect": "read", "area": "access", "upstream": "access"}`
	routes := func(rows string) policytest.Tree {
		tree := small(t, head)
		authz := strings.Replace(policytest.SmallAuthz, "access := decision if", "access := {\"allow\": true, \"reason\": \"public\"} if input.route.access.public\n\nelse := decision if", 1)
		return tree.With("authz/authz.rego", authz).With("routes/data.json", strings.Replace(policytest.SmallRoutes, "}\n}", "},\n"+rows+"\n}", 1))
	}
	const docs, pub = `"docs": {"method": "GET", "path": "/docs/{id}", "action": "account:doc:read", ` + words, `"all": {"method": "GET", "path": "/{rest+}", "access": ["public"], ` + words
	for name, c := range map[string]struct{ old, next, want string }{
		"another method":       {pub, strings.Replace(pub, "GET", "*", 1), "guards: new: all"},
		"another path":         {strings.Replace(pub, "{rest+}", "health", 1), pub, "guards: new: all"},
		"another host":         {strings.Replace(pub, `"method"`, `"host": "a.example", "method"`, 1), pub, "guards: new: all"},
		"left to a wider row":  {docs + ",\n" + pub, pub, "guards: new: docs -> all"},
		"a better row is left": {docs + ",\n" + pub, docs, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := guards.Check(t.Context(), compiled(t, routes(c.old)), compiled(t, routes(c.next)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestGuardsSeeAssignmentsBesideEachOther: what stands beside the role that grants takes access, and not all of it can
// be asked about.
func TestGuardsSeeAssignmentsBesideEachOther(t *testing.T) {
	const head = "package guards\n\ndeny contains sprintf(\"lost: %s\", [row.role]) if some row in input.lost_access\n"
	running := strings.Replace(policytest.SmallAuthz, "data.grants[item.role]", "item.running == true\n\tdata.grants[item.role]", 1)
	before := small(t, head).With("authz/authz.rego", running)
	authz := strings.Replace(running, `input.subject.status == "ACTIVE"`, "input.subject.status == \"ACTIVE\"\n\tnot _ended", 1)
	next := before.With("authz/authz.rego", authz+"\n_ended if {\n\tsome held in input.subject.here\n\theld.running == false\n}\n")
	err := guards.Check(t.Context(), compiled(t, before), compiled(t, next))
	for _, want := range []string{"guards: lost: account_admin and a custom role with *:*:*", "not exhaustive: authz/authz.rego:14 reads subject.here"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, without %s", err, want)
		}
	}
}
