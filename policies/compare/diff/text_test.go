package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
)

// TestTextsOfATreeAreOnlyTexts: a reason makes no line of its own, no markup and no control sequence of a terminal.
func TestTextsOfATreeAreOnlyTexts(t *testing.T) {
	r := &diff.Report{NewAccess: []compare.Row{{
		Entry: "decision", Caller: "self", Credential: "token", New: compare.Answer{Allow: true, Reason: "a\n\n# Approved\r\x1b[2J\u202e \\*b\\* ~c~ <d> [e](f) @g `h`"},
	}}}
	const want = `- decision, by self with a token \[]: denied () -&gt; allowed (a  # Approved  \[2J  \\\*b\\\* \~c\~ &lt;d&gt; \[e](f) ` + "@\u200bg 'h')\n"
	if got := r.Markdown(); !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
	if got := r.Text(); strings.ContainsAny(got, "\r\x1b\u202e") || strings.Contains(got, "\n# Approved") {
		t.Errorf("%q", got)
	}
}

// TestRowsAreGrouped by the rules that answer, the route and the role: callers, places and states are on one line.
func TestRowsAreGrouped(t *testing.T) {
	row := func(action, caller, credential, place, project string, code string) compare.Row {
		return compare.Row{
			Entry: "decision", Action: action, Caller: caller, Credential: credential, Role: "reader", Place: place,
			States: map[string][]string{"project": {project}}, Old: compare.Answer{Code: "no_role", Reason: "no"},
			New: compare.Answer{Allow: true, Code: code, Reason: "yes"},
		}
	}
	r := &diff.Report{NewAccess: []compare.Row{
		row("project:disk:read", "self", "token", "project", "active", "role"), row("project:disk:read", "self", "key read", "project", "active", "role"),
		row("project:disk:list", "self", "token", "project", "active", "role"), row("project:disk:read", "service authz:check", "token", "account", "deleting", "role"),
		row("project:disk:read", "self", "token", "project", "active", "another"),
	}}
	const want = `
New access (5)
  no_role -> another:
  decision, project:disk:read, by self with a token, holding reader, at project [project=active]: denied (no) -> allowed (yes)
  no_role -> role:
  decision, project:disk:list, by self with a token, holding reader, at project [project=active]: denied (no) -> allowed (yes)
  decision, project:disk:read, by self with a key (read), self with a token, service with a token (authz:check), holding reader, ` +
		"at account, project [project=active|deleting]: denied (no) -> allowed (yes)\n"
	if got := r.Text(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestCallersAreGrouped guarantees that a line names each kind of caller once, with up to four sets of scopes.
func TestCallersAreGrouped(t *testing.T) {
	r := &diff.Report{}
	add := func(caller, credential string) {
		r.NewAccess = append(r.NewAccess, compare.Row{Entry: "decision", Caller: caller, Credential: credential})
	}
	for _, credential := range []string{"key", "key read", "key read+write", "key write", "token"} {
		add("self", credential)
	}
	for _, scopes := range []string{"", " a", " a+b", " a+b+c", " b"} {
		add("service"+scopes, "token")
		add("service"+scopes+" (service-x)", "token")
	}
	add("service d (service-y)", "token")
	add("nobody", "none")
	const want = "decision, by nobody, self with a key (no scopes, read, read+write, write), self with a token, service service-x with a token (5 sets of scopes), " +
		"service service-y with a token (d), service with a token (5 sets of scopes) []:"
	if got := r.Text(); !strings.Contains(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestATextHas200Lines for all lists together. Short lists get what they need, and what has no line is counted.
func TestATextHas200Lines(t *testing.T) {
	r := &diff.Report{People: &people.Report{}}
	for i := range 300 {
		route := fmt.Sprintf("route.%03d", i)
		row := compare.Row{Entry: "access", Route: route, Caller: "self", Credential: "token"}
		r.NewAccess = append(r.NewAccess, row, row)
		r.People.Gain = append(r.People.Gain, people.Change{Entry: "access", Route: route})
	}
	for range 10 {
		r.NotExhaustive = append(r.NotExhaustive, compare.Gap{At: "a.rego:1"})
	}
	got := r.Text()
	for line, count := range map[string]int{
		"  access, route.": 95, "  0 by : access, route.": 95, "  a.rego:1 reads ": 10, "\nNew access (600)\n": 1, "\nReal users who gain (300)\n": 1,
		"  … and 410 more; --json has all\n": 1, "  … and 205 more; --json has all\n": 1,
	} {
		if has := strings.Count(got, line); has != count {
			t.Errorf("%d times %q, not %d:\n%s", has, line, count, got)
		}
	}
}
