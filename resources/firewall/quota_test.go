package firewall_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestQuotas guarantees a 409 past them. Deleted groups and rules do not count; each project and
// group has its own quota.
func TestQuotas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quotas(3, 2))
	for i := range 3 {
		w.made(fmt.Sprint("g", i))
	}
	w.Expect(w.call("security_group.create", w.draft("g3")), 409, `"code":"CONFLICT"`)
	w.inProject(acctA, projX).made("g3")
	first := w.call("security_group.list", nil).Body["security_groups"].([]any)[0].(map[string]any)["id"].(string)
	w.Expect(w.call("security_group.delete", nil, first), 200)
	id, rules := w.made("g3", tcpRule(1), tcpRule(2))
	w.Expect(w.call("security_group_rule.create", tcpRule(3), id), 409, `"code":"CONFLICT"`)
	w.Expect(w.call("security_group_rule.delete", nil, id, rules[0]), 200)
	w.Expect(w.call("security_group_rule.create", tcpRule(3), id), 201)
	w.Expect(w.inProject(acctA, projX).call("security_group.create", areatest.Object{"project_id": projX, "name": "many", "rules": []areatest.Object{tcpRule(1), tcpRule(2), tcpRule(3)}}), 409)
	// Other problems come first, of as many rules as a group may have.
	bad := areatest.Object{"direction": "x", "protocol": "tcp"}
	w.refused(w.inProject(acctA, projX).call("security_group.create", areatest.Object{"project_id": projX, "name": "many", "rules": []areatest.Object{tcpRule(1), bad, bad}}), "rules[1].direction")
}

// TestDefaultQuotas: 100 groups a project, 200 rules a group.
func TestDefaultQuotas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var many []areatest.Object
	for i := range 200 {
		many = append(many, tcpRule(i))
	}
	id, _ := w.made("full", many...)
	w.Expect(w.call("security_group_rule.create", tcpRule(200), id), 409)
	w.Expect(w.call("security_group.create", w.draft("fuller", append(many, tcpRule(200))...)), 409)
	for i := range 99 {
		w.made(fmt.Sprint("g", i))
	}
	w.Expect(w.call("security_group.create", w.draft("g99")), 409)
}

// together makes n calls at once and counts their statuses.
func together(t *testing.T, n int, call func(i int) int) map[int]int {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range n {
		wg.Go(func() {
			status := call(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	return statuses
}

// TestTogetherNothingIsExceeded: creations at once keep the quotas, the uniqueness of
// names and that of rules, and none of what was answered is lost.
func TestTogetherNothingIsExceeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quotas(5, 4))
	id, _ := w.made("base")
	for name, c := range map[string]struct {
		call func(i int) areatest.Answer
		made int
	}{
		"groups": {func(i int) areatest.Answer { return w.call("security_group.create", w.draft(fmt.Sprint("g", i))) }, 4},
		"rules":  {func(i int) areatest.Answer { return w.call("security_group_rule.create", tcpRule(i), id) }, 4},
		"equal names": {func(int) areatest.Answer {
			return w.inProject(acctA, projX).call("security_group.create", areatest.Object{"project_id": projX, "name": "one"})
		}, 1},
	} {
		if got := together(t, 12, func(i int) int { return c.call(i).Status }); got[201] != c.made || got[409] != 12-c.made {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := w.call("security_group.list", nil); len(names(got)) != 5 || len(w.group(id)["rules"].([]any)) != 4 {
		t.Errorf("%s", got.Text)
	}
	other, _ := w.inProject(acctA, projX).made("rules")
	x := w.inProject(acctA, projX)
	if got := together(t, 8, func(int) int { return x.call("security_group_rule.create", tcpRule(1), other).Status }); got[201] != 1 || got[409] != 7 {
		t.Errorf("equal rules at once: %v", got)
	}
}

// TestNoRuleNamesAGroupThatIsGone: of a deletion and a rule that names the group, at
// once, one is refused.
func TestNoRuleNamesAGroupThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.made("web")
	for i := range 20 {
		target, _ := w.made(fmt.Sprint("target", i))
		got := together(t, 2, func(n int) int {
			if n == 0 {
				return w.call("security_group.delete", nil, target).Status
			}
			return w.call("security_group_rule.create", naming(target, i), id).Status
		})
		deletedFirst, namedFirst := got[200] == 1 && got[400] == 1, got[409] == 1 && got[201] == 1
		if !deletedFirst && !namedFirst {
			t.Fatalf("%v", got)
		}
	}
}

// TestProjectIsClosedWhenEmpty: with a group in it, it is occupied and nothing
// changes; an empty one takes nothing until it is opened, or for two minutes.
func TestProjectIsClosedWhenEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closing := func(want bool) {
		t.Helper()
		occupied, err := w.service.CloseProject(t.Context(), closingOf(w.account, w.project))
		if err != nil || occupied != want {
			t.Fatalf("occupied=%t, %v", occupied, err)
		}
	}
	id, rules := w.made("web", tcpRule(1))
	closing(true)
	w.made("more")
	for _, g := range w.call("security_group.list", nil).Body["security_groups"].([]any) {
		w.Expect(w.call("security_group.delete", nil, g.(map[string]any)["id"].(string)), 200)
	}
	closing(false) // deleted ones are nothing
	w.Expect(w.call("security_group.create", w.draft("new")), 503, `"code":"UNAVAILABLE"`)
	w.Expect(w.call("security_group.delete", nil, id), 404)
	w.Expect(w.call("security_group_rule.delete", nil, id, rules[0]), 404)
	w.Expect(w.call("security_group_rule.create", tcpRule(2), id), 404)
	w.inProject(acctA, projX).made("new")
	w.inProject(acctB, projA).made("new")
	closing(false)
	w.Clock.Add(2*60*1000 - 1)
	w.Expect(w.call("security_group.create", w.draft("new")), 503)
	w.Clock.Add(1)
	id, _ = w.made("new")
	w.Expect(w.call("security_group.delete", nil, id), 200)
	closing(false)
	must.Do(t, w.service.OpenProject(t.Context(), closingOf(w.account, w.project)))
	w.made("new")
	closing(true)
}

// TestClosingAndMakingAtOnce: a project that was found empty stays so.
func TestClosingAndMakingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		x := w.inProject(acctA, fmt.Sprintf("proj-%d-v1", i))
		got := together(t, 2, func(n int) int {
			if n == 0 {
				return x.call("security_group.create", x.draft("g")).Status
			}
			occupied, err := w.service.CloseProject(t.Context(), closingOf(x.account, x.project))
			switch {
			case err != nil:
				return -1
			case occupied:
				return 1
			}
			return 0
		})
		if text := fmt.Sprint(got); !strings.Contains("map[1:1 201:1] map[0:1 503:1]", text) {
			t.Fatal(text)
		}
	}
}

// TestWhatMustNotRunAtOnceWritesTheOccupancy: that is what makes two transactions
// conflict in a store with more than one writer.
func TestWhatMustNotRunAtOnceWritesTheOccupancy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target, _ := w.made("target")
	id, _ := w.made("web")
	revision := func() (index int64) {
		t.Helper()
		must.Do(t, w.Store.View(t.Context(), func(tx store.Tx) error {
			rec, err := w.Collections.Occupancies.Get(t.Context(), tx, "firewall|"+acctA+"|"+projA)
			index = rec.Revision
			return err
		}))
		return index
	}
	for _, step := range []struct {
		title string
		do    func()
	}{
		{"making a group", func() { w.made("new") }},
		{"adding a rule", func() { w.Expect(w.call("security_group_rule.create", naming(target, 1), id), 201) }},
		{"deleting a group", func() { w.Expect(w.call("security_group.delete", nil, id), 200) }},
		{"closing the project", func() {
			for _, g := range w.call("security_group.list", nil).Body["security_groups"].([]any) {
				w.Expect(w.call("security_group.delete", nil, g.(map[string]any)["id"].(string)), 200)
			}
			before := revision()
			if _, err := w.service.CloseProject(t.Context(), closingOf(acctA, projA)); err != nil || revision() == before {
				t.Errorf("closing: revision %d, %v", before, err)
			}
		}},
	} {
		before := revision()
		if step.do(); revision() == before {
			t.Errorf("%s does not write it", step.title)
		}
	}
}

// marks number the attempts of the tests.
var marks atomic.Int64

// closingOf is the next attempt to delete a project.
func closingOf(account, project string) resources.Closing {
	return resources.Closing{AccountID: account, ProjectID: project, Mark: marks.Add(1)}
}
