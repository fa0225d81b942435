package people_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

const now = resources.Time(1_800_000_000_000)

func compiled(tb testing.TB, tree policytest.Tree) *engine.Set {
	tb.Helper()
	src, err := policies.Read(tree)
	if err != nil {
		tb.Fatal(err)
	}
	set, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// held is an assignment of a role at a project, or at a resource of one.
func held(role, project, resource string) resources.HeldRole {
	h := resources.HeldRole{RoleID: role, RoleScope: "PROJECT", RoleStatus: "ACTIVE", ProjectID: project, ResourceID: resource, Status: "ACTIVE"}
	if resource != "" {
		h.RoleScope = "RESOURCE"
	}
	return h
}

// holds is an active member of an account, who holds this in active projects.
func holds(user string, all ...resources.HeldRole) people.Person {
	p := people.Person{Projects: map[string]string{}, Subject: &resources.Subject{
		UserID: user, UserExists: true, UserStatus: "ACTIVE", AccountID: "acct-a-v1", AccountExists: true, AccountStatus: "ACTIVE", Member: true,
		Assignments: all,
	}}
	for _, h := range all {
		p.Projects[h.ProjectID] = "active"
	}
	return p
}

// reader is a reader of a project, with an API key.
func reader(user, project string) people.Person {
	p := holds(user, held("project_reader", project, ""))
	p.Keys = []string{"read"}
	return p
}

// until is the person with an end of what is held.
func until(p people.Person, end resources.Time) people.Person {
	p.Subject.Assignments[0].ExpiresAt = end
	return p
}

// turning is the row of a change by which readers of a project may make instances.
func turning() []compare.Row {
	places := []resources.Target{{}, {ProjectID: compare.AnyProject}, {ProjectID: compare.AnyProject, Resource: compare.AnyResource, Rest: compare.AnyResource}}
	row := compare.Row{Entry: "decision", Action: "project:instance:create", Caller: "self", Credential: "token", New: compare.Answer{Allow: true}, Asked: compare.Asked{
		Principal: resources.Principal{Kind: "user", Credential: "token"}, Targets: places,
	}}
	service := row
	service.Caller, service.Asked.Principal = "service authz:check", resources.Principal{Kind: "service", Credential: "token"}
	key := row
	key.Credential, key.Asked.Principal.Credential = "key read", "key"
	nobody := row
	nobody.Caller, nobody.Credential, nobody.Asked.Principal = "nobody", "none", resources.Principal{Kind: "none", Credential: "none"}
	return []compare.Row{row, service, key, nobody}
}

// trees are the embedded one, and one by which readers of a project may make instances, with one more file.
func trees(tb testing.TB, more string) [2]*engine.Set {
	tb.Helper()
	tree := policytest.Copy(tb, policies.Tree())
	const grants, reads = "grants/data.json", `"project:*:read": true`
	text := string(tree[grants].Data)
	i := strings.LastIndex(text, reads)
	next := tree.With(grants, text[:i]+reads+`, "project:instance:create": true`+text[i+len(reads):]).With("authz/more.rego", "package authz\n"+more)
	return [2]*engine.Set{compiled(tb, tree), compiled(tb, next)}
}

func compared(t *testing.T, sets [2]*engine.Set, gaps []compare.Gap, names int, all ...people.Person) *people.Report {
	t.Helper()
	r, err := people.Compare(t.Context(), sets, turning(), gaps, func(_ context.Context, add func(people.Person) error) (people.Facts, []people.Omission, error) {
		for _, p := range all {
			if err := add(p); err != nil {
				return people.Facts{}, nil, err
			}
		}
		return people.Facts{From: 3, To: 3}, nil, nil
	}, people.Options{Names: names, AtOnce: 2, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said are the changes in one line each.
func said(changes []people.Change) (out []string) {
	for _, c := range changes {
		line := fmt.Sprintf("%d %s %s at %s%s by %s:", c.Users, c.Entry, c.Action, c.Place, c.Path, strings.Join(c.By, "+"))
		for _, n := range c.Named {
			line += fmt.Sprintf(" %s%v", n.User, n.Places)
		}
		out = append(out, line)
	}
	return out
}

func want(t *testing.T, got []people.Change, lines ...string) {
	t.Helper()
	if !slices.Equal(said(got), lines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(said(got), "\n"), strings.Join(lines, "\n"))
	}
}

// TestPeopleAreJudgedOnceForEachSetOfFacts: equal roles in other places are one set of facts, and users are named with their
// own places. Other roles, and roles without effect, gain nothing.
func TestPeopleAreJudgedOnceForEachSetOfFacts(t *testing.T) {
	ended := until(reader("user-ended-v1", "proj-c-v1"), now-1)
	later := until(reader("user-later-v1", "proj-c-v1"), now+1)
	evenLater := until(reader("user-later2-v1", "proj-c-v1"), now+999)
	closing := reader("user-closing-v1", "proj-c-v1")
	closing.Projects["proj-c-v1"] = "deleting"
	suspended := reader("user-suspended-v1", "proj-a-v1")
	suspended.Subject.UserStatus = "SUSPENDED"
	nowhere := people.Person{Subject: &resources.Subject{UserID: "user-d-v1", UserExists: true, UserStatus: "ACTIVE"}}
	r := compared(t, trees(t, ""), nil, 2,
		reader("user-a-v1", "proj-a-v1"), reader("user-b-v1", "proj-b-v1"), reader("user-c-v1", "proj-c-v1"),
		ended, later, evenLater, closing, suspended, nowhere)
	if r.Users != 9 || r.Accounts != 1 || r.FactSets != 6 || len(r.NotLookedAt) != 0 || r.Facts.From != 3 {
		t.Errorf("%+v", r)
	}
	want(t, r.Gain, "5 decision project:instance:create at project by service+token: user-a-v1[proj-a-v1] user-b-v1[proj-b-v1]")
	want(t, r.Lose)
	r = compared(t, reversed(trees(t, "")), nil, 0, reader("user-a-v1", "proj-a-v1"))
	want(t, r.Gain)
	want(t, r.Lose, "1 decision project:instance:create at project by service+token:")
}

func reversed(sets [2]*engine.Set) [2]*engine.Set { return [2]*engine.Set{sets[1], sets[0]} }

// TestNamesInRulesTellPeopleApart: a tree keeps the ids that it names, and all ids if a rule passes one to a built-in.
func TestNamesInRulesTellPeopleApart(t *testing.T) {
	all := []people.Person{reader("user-a-v1", "proj-a-v1"), reader("user-b-v1", "proj-b-v1"), reader("user-c-v1", "proj-c-v1")}
	for rule, c := range map[string]struct {
		gaps  []compare.Gap
		sets  int
		users string
	}{
		`deny contains "not b" if input.subject.id == "user-b-v1"`:                            {nil, 2, "user-a-v1[proj-a-v1] user-c-v1[proj-c-v1]"},
		`deny contains "not there" if input.target.project == "proj-a-v1"`:                    {nil, 2, "user-b-v1[proj-b-v1] user-c-v1[proj-c-v1]"},
		`deny contains "not c" if startswith(concat("", ["x", input.subject.id]), "xuser-c")`: {[]compare.Gap{{At: "x:1", Reads: "subject.id"}}, 3, "user-a-v1[proj-a-v1] user-b-v1[proj-b-v1]"},
	} {
		r := compared(t, trees(t, rule), c.gaps, 5, all...)
		gains := slices.DeleteFunc(r.Gain, func(c people.Change) bool { return c.Action != "project:instance:create" || c.Place != "project" })
		if r.FactSets != c.sets || len(gains) != 1 || !strings.HasSuffix(said(gains)[0], ": "+c.users) || len(r.NotLookedAt) != len(c.gaps) {
			t.Errorf("%s: %d sets, %v, %v", rule, r.FactSets, said(gains), r.NotLookedAt)
		}
	}
}

// TestAFailingRuleIsNotLookedAt: no answer is neither gain nor loss, and is counted.
func TestAFailingRuleIsNotLookedAt(t *testing.T) {
	r := compared(t, trees(t, `deny contains "x" if {
	input.action.id == "project:instance:create"
	to_number(input.subject.status) > 1
}`), nil, 5, reader("user-a-v1", "proj-a-v1"), reader("user-b-v1", "proj-b-v1"))
	if len(r.Gain)+len(r.Lose) != 0 || len(r.NotLookedAt) == 0 || r.NotLookedAt[0].Users != 2 || !strings.Contains(r.NotLookedAt[0].What, "the new tree gives no decision") {
		t.Errorf("%+v", r)
	}
}

// TestPlacesStandForOthers: the ids of projects and resources make no sets of facts, nor does the order of assignments. Each
// change names its places. Kinds of resources count if a rule reads them.
func TestPlacesStandForOthers(t *testing.T) {
	for rule, sets := range map[string]int{"": 1, `deny contains "x" if input.target.kind == "volcanos"`: 2} {
		r := compared(t, trees(t, rule), nil, 5,
			holds("user-a-v1", held("project_reader", "proj-a-v1", ""), held("project_admin", "proj-b-v1", ""), held("disk_role", "proj-b-v1", "disks/x")),
			holds("user-b-v1", held("disk_role", "proj-c-v1", "disks/a"), held("project_reader", "proj-z-v1", ""), held("project_admin", "proj-c-v1", "")),
			holds("user-c-v1", held("disk_role", "proj-c-v1", "nets/a"), held("project_reader", "proj-z-v1", ""), held("project_admin", "proj-c-v1", "")))
		if r.FactSets != sets {
			t.Errorf("%d sets, want %d: %s", r.FactSets, sets, rule)
		}
		want(t, r.Gain, "3 decision project:instance:create at project by service+token: user-a-v1[proj-a-v1] user-b-v1[proj-z-v1] user-c-v1[proj-z-v1]")
	}
}

// TestCustomRolesAreWhatTheyGrant: their ids count where a rule names one.
func TestCustomRolesAreWhatTheyGrant(t *testing.T) {
	custom := func(user, role string, permissions ...string) people.Person {
		h := held(role, "proj-a-v1", "")
		h.Custom, h.Permissions = true, permissions
		return holds(user, h)
	}
	all := []people.Person{
		custom("user-a-v1", "role-a-v1", "project:*:read", "project:*:list"), custom("user-b-v1", "role-b-v1", "project:*:list", "project:*:read"),
		custom("user-c-v1", "role-c-v1", "project:*:list"),
	}
	const names = `deny contains "x" if input.subject.here[_].role == "role-b-v1"`
	for rule, sets := range map[string]int{"": 2, names: 3} {
		if r := compared(t, trees(t, rule), nil, 0, all...); r.FactSets != sets {
			t.Errorf("%d sets, want %d: %s", r.FactSets, sets, rule)
		}
	}
}

// TestEveryRowIsAskedAbout, also one of a grant of many permissions, and one of calls that a proxy names.
func TestEveryRowIsAskedAbout(t *testing.T) {
	for gain, change := range map[string]func(*compare.Row){
		"1 grantable  at project by token: user-a-v1[proj-a-v1]": func(r *compare.Row) {
			r.Entry, r.Action = "grantable", ""
			r.Asked.Grant = &resources.Grant{Permissions: []string{"project:disk:read", "project:instance:create", "project:instance:read", "project:network:read"}}
		},
		"1 access project:instance:create at project by token: user-a-v1[proj-a-v1]": func(r *compare.Row) {
			r.Entry, r.Route = "access", resources.RouteNamed
		},
	} {
		rows := turning()
		for i := range rows {
			change(&rows[i])
		}
		r, err := people.Compare(t.Context(), trees(t, ""), rows, nil, func(_ context.Context, add func(people.Person) error) (people.Facts, []people.Omission, error) {
			return people.Facts{}, nil, add(reader("user-a-v1", "proj-a-v1"))
		}, people.Options{Names: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		want(t, r.Gain, gain)
	}
}

// TestUsersBeyondABoundAreCounted, and nothing is said of them.
func TestUsersBeyondABoundAreCounted(t *testing.T) {
	const kept, more = 50_000, 10
	r, err := people.Compare(t.Context(), trees(t, ""), nil, nil, func(_ context.Context, add func(people.Person) error) (people.Facts, []people.Omission, error) {
		for i := range kept + more {
			h := held("role-a-v1", "proj-a-v1", "")
			h.Custom, h.Permissions = true, []string{fmt.Sprintf("project:kind_%d:read", i)}
			if err := add(holds(fmt.Sprintf("user-%d-v1", i), h)); err != nil {
				return people.Facts{}, nil, err
			}
		}
		return people.Facts{}, nil, nil
	}, people.Options{Names: 1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	const shared = 4 // stands: all but that at the project
	if r.Users != kept+more || r.FactSets != kept-shared || len(r.NotLookedAt) != 1 || r.NotLookedAt[0].Users != more+shared {
		t.Errorf("%d users, %d sets, %v", r.Users, r.FactSets, r.NotLookedAt)
	}
}

// TestARouteIsAskedAboutOnce, also where its action is another one in each tree and all routes are asked about.
func TestARouteIsAskedAboutOnce(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	const routes, old, next = "routes/data.json", "project:security_group:create", "project:security_group:read"
	sets := [2]*engine.Set{compiled(t, tree), compiled(t, tree.With(routes, strings.Replace(string(tree[routes].Data), old, next, 1)))}
	row := compare.Row{
		Entry: "access", Route: "security_group.create", Action: old + " -> " + next, Caller: "self", Credential: "token", New: compare.Answer{Allow: true},
		Asked: compare.Asked{
			Principal: resources.Principal{Kind: "user", Credential: "token"},
			Targets:   []resources.Target{{AccountID: compare.AnyAccount, ProjectID: compare.AnyProject}},
		},
	}
	r, err := people.Compare(t.Context(), sets, []compare.Row{row}, []compare.Gap{{At: "x:1", Reads: "target.rest"}}, func(_ context.Context, add func(people.Person) error) (people.Facts, []people.Omission, error) {
		return people.Facts{}, nil, add(reader("user-a-v1", "proj-a-v1"))
	}, people.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	want(t, r.Gain, "1 access "+old+" -> "+next+" at project by key read+token:")
}

// TestRowsOfAComparisonAreAsked as it has them: members gain a route by a word of its access list.
func TestRowsOfAComparisonAreAsked(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	const routes, access = "routes/data.json", `"access": ["self", "service:users:sync"]`
	more := strings.Replace(string(tree[routes].Data), access, `"access": ["self", "member", "service:users:sync"]`, 1)
	sets := [2]*engine.Set{compiled(t, tree), compiled(t, tree.With(routes, more))}
	d, err := compare.Compare(t.Context(), sets[0], sets[1], 2)
	if err != nil {
		t.Fatal(err)
	}
	suspended := reader("user-b-v1", "proj-a-v1")
	suspended.Subject.UserStatus = "SUSPENDED"
	r, err := people.Compare(t.Context(), sets, d.Rows, d.Gaps, func(_ context.Context, add func(people.Person) error) (people.Facts, []people.Omission, error) {
		return people.Facts{}, nil, errors.Join(add(reader("user-a-v1", "proj-a-v1")), add(suspended))
	}, people.Options{Names: 5, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	const line = "1 access account:user:update at account by token: user-a-v1[]"
	want(t, r.Gain, line, line)
	want(t, r.Lose)
	if r.Gain[0].Route != "user.update" || r.Gain[0].About != "" || r.Gain[1].About != "another" {
		t.Errorf("%+v", r.Gain)
	}
}
