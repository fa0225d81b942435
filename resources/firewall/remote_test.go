package firewall_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestNamedGroupMustBeThere: another project's, another account's, a deleted, an absent
// and an impossible one are answered alike.
func TestNamedGroupMustBeThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.made("web")
	existing, _ := w.made("there")
	deleted, _ := w.made("deleted")
	w.Expect(w.call("security_group.delete", nil, deleted), 200)
	elsewhere, _ := w.inProject(acctA, projX).made("x")
	foreign, _ := w.inProject(acctB, projB).made("b")
	absent := w.call("security_group_rule.create", naming("sg-absent-v1", 80), id)
	w.refused(absent, "remote_security_group_id")
	absentIn := w.call("security_group.create", w.draft("new", tcpRule(1), naming("sg-absent-v1", 80)))
	w.refused(absentIn, "rules[1].remote_security_group_id")
	for _, bad := range []string{deleted, elsewhere, foreign, strings.ToUpper(existing), "web", " " + existing, strings.Repeat("x", 5000), "a|b", "$where", "\x00"} {
		if got := w.call("security_group_rule.create", naming(bad, 80), id); got.Text != absent.Text && bad != "\x00" {
			t.Errorf("%.40q: %d %s", bad, got.Status, got.Text)
		}
		if got := w.call("security_group.create", w.draft("new", tcpRule(1), naming(bad, 80))); got.Text != absentIn.Text && bad != "\x00" {
			t.Errorf("%.40q: %d %s", bad, got.Status, got.Text)
		}
	}
	w.Expect(w.call("security_group_rule.create", naming(existing, 80), id), 201)
	w.made("new", naming(existing, 80), naming(id, 80))
}

// TestGroupThatIsNamedStays: it can be deleted when the last rule of another group
// that names it is gone; a group may name itself.
func TestGroupThatIsNamedStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target, _ := w.made("target")
	one, ones := w.made("one", naming(target, 1), naming(target, 2), tcpRule(3))
	two, _ := w.made("two")
	w.Expect(w.call("security_group_rule.create", naming(target, 1), two), 201)
	w.Expect(w.call("security_group_rule.create", naming(two, 1), two), 201) // itself
	conflict := func() {
		t.Helper()
		w.Expect(w.call("security_group.delete", nil, target), 409, `"code":"CONFLICT"`)
		w.group(target)
	}
	conflict()
	w.Expect(w.call("security_group_rule.delete", nil, one, ones[0]), 200)
	w.Expect(w.call("security_group.delete", nil, two), 200) // its reference goes with it, and its own is none
	conflict()
	w.Expect(w.call("security_group_rule.delete", nil, one, ones[2]), 200)
	conflict()
	w.Expect(w.call("security_group_rule.delete", nil, one, ones[1]), 200)
	w.Expect(w.call("security_group_rule.create", naming(target, 9), one), 201)
	conflict()
	last := w.group(one)["rules"].([]any)[0].(map[string]any)["id"].(string)
	w.Expect(w.call("security_group_rule.delete", nil, one, last), 200)
	w.Expect(w.call("security_group_rule.create", naming(target, 9), target), 201) // a rule of its own keeps nothing
	w.Expect(w.call("security_group.delete", nil, target), 200)
	must.Do(t, w.Store.View(t.Context(), func(tx store.Tx) error {
		recs, err := w.Collections.SecurityGroupReferences.Find(t.Context(), tx, store.Query{Index: records.ByRemoteGroup})
		if len(recs) > 0 {
			t.Errorf("references of nothing: %v", recs)
		}
		return err
	}))
}

// TestMissingNamesWhatCannotBeUsed: for those who name groups from outside, each id once.
func TestMissingNamesWhatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.made("a")
	b, _ := w.made("b")
	deleted, _ := w.made("deleted")
	w.Expect(w.call("security_group.delete", nil, deleted), 200)
	elsewhere, _ := w.inProject(acctA, projX).made("x")
	ask := func(account, project string, ids ...string) (missing []string) {
		t.Helper()
		must.Do(t, w.Store.View(t.Context(), func(tx store.Tx) (err error) {
			missing, err = w.service.Missing(t.Context(), tx, account, project, ids)
			return err
		}))
		return missing
	}
	for name, c := range map[string]struct{ got, want []string }{
		"all there":       {ask(acctA, projA, a, b, a), nil},
		"none asked":      {ask(acctA, projA), nil},
		"some":            {ask(acctA, projA, deleted, a, elsewhere, "sg-none-v1", deleted, ""), []string{deleted, elsewhere, "sg-none-v1", ""}},
		"another project": {ask(acctA, projX, a, elsewhere), []string{a}},
		"another account": {ask(acctB, projA, a), []string{a}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// TestAnotherProjectsGroupIsNotThere guarantees the answer for an unknown group, and no change, on
// every route with an id.
func TestAnotherProjectsGroupIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, rules := w.made("web", tcpRule(80))
	before := w.Expect(w.call("security_group.get", nil, id), 200).Text
	for route, body := range map[string]any{"security_group.get": nil, "security_group.update": areatest.Object{"name": "x"}, "security_group.delete": nil, "security_group_rule.create": tcpRule(81), "security_group_rule.delete": nil} {
		for _, world := range []*firewallWorld{w.inProject(acctA, projX), w.inProject(acctB, projB), w.inProject(acctB, projA)} {
			absent := w.Expect(world.call(route, body, "sg-absent-v1", "sgr-absent-v1"), 404).Text
			if got := world.call(route, body, id, rules[0]); got.Status != 404 || got.Text != absent {
				t.Errorf("%s from %s/%s: %d %s", route, world.account, world.project, got.Status, got.Text)
			}
		}
	}
	if after := w.Expect(w.call("security_group.get", nil, id), 200).Text; after != before {
		t.Errorf("%s\nbecame %s", before, after)
	}
	for _, world := range []*firewallWorld{w.inProject(acctA, projX), w.inProject(acctB, projA)} {
		if got := world.Expect(world.call("security_group.list", nil), 200); len(names(got)) != 0 {
			t.Errorf("%s", got.Text)
		}
	}
}
