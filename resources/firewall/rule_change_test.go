package firewall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// TestRuleIsAddedAndRemoved: it stands last in its group, the group's time moves,
// and what is removed is not found again.
func TestRuleIsAddedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, first := w.made("web", tcpRule(80))
	w.Clock.Add(1000)
	got := w.Expect(w.call("security_group_rule.create", tcpRule(81), id), 201)
	added := got.Body["security_group_rule"].(map[string]any)
	if message, _ := got.Body["message"].(string); message == "" || len(got.Body) != 2 || added["security_group_id"] != id {
		t.Errorf("%s", got.Text)
	}
	g := w.group(id)
	rules := g["rules"].([]any)
	if len(rules) != 2 || fmt.Sprint(rules[1]) != fmt.Sprint(added) || g["updated_at"] != added["created_at"] || g["updated_at"] == g["created_at"] {
		t.Errorf("%v", g)
	}
	w.refused(w.call("security_group_rule.delete?x=1", nil, id, first[0]), "x")
	w.Clock.Add(1000)
	got = w.Expect(w.call("security_group_rule.delete", nil, id, first[0]), 200)
	if message, _ := got.Body["message"].(string); message == "" || len(got.Body) != 1 {
		t.Errorf("%s", got.Text)
	}
	if after := w.group(id); len(after["rules"].([]any)) != 1 || after["updated_at"] == g["updated_at"] {
		t.Errorf("%v", after)
	}
	absent := w.Expect(w.call("security_group_rule.delete", nil, id, "sgr-absent-v1"), 404).Text
	other, rest := w.made("other", tcpRule(80))
	for name, got := range map[string]areatest.Answer{
		"a repeat": w.call("security_group_rule.delete", nil, id, first[0]), "another group's": w.call("security_group_rule.delete", nil, id, rest[0]),
	} {
		if got.Status != 404 || got.Text != absent {
			t.Errorf("%s: %d %s", name, got.Status, got.Text)
		}
	}
	w.Expect(w.call("security_group_rule.delete", nil, other, added["id"].(string)), 404)
	w.Expect(w.call("security_group_rule.delete", nil, other, rest[0]), 200)
	if rules := w.group(other)["rules"].([]any); len(rules) != 0 {
		t.Errorf("%v", rules)
	}
	w.Expect(w.call("security_group.get", nil, other), 200, `"rules":[]`)
}

// TestEqualRuleIsRefused: in one list, and beside those that are there; 409, and nothing
// is written.
func TestEqualRuleIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	six := tcpRule(80)
	six["protocol"], six["description"] = "6", "another name"
	got := w.Expect(w.call("security_group.create", w.draft("web", tcpRule(80), tcpRule(81), six)), 409, `"code":"CONFLICT"`)
	if details := got.Body["details"]; fmt.Sprint(details) != "map[rules[2]:is the same rule as rules[0]]" {
		t.Errorf("%v", details)
	}
	id, rules := w.made("web", tcpRule(80))
	w.Expect(w.call("security_group_rule.create", six, id), 409, rules[0])
	six["priority"] = 99
	w.Expect(w.call("security_group_rule.create", six, id), 201)
	w.Expect(w.call("security_group_rule.create", six, id), 409)
	if rules := w.group(id)["rules"].([]any); len(rules) != 2 {
		t.Errorf("%v", rules)
	}
	w.Expect(w.call("security_group_rule.delete", nil, id, rules[0]), 200)
	w.Expect(w.call("security_group_rule.create", tcpRule(80), id), 201)
	w.made("other", tcpRule(80)) // another group's rule does not count
}

// TestRuleProblemsAreToldAtOnce: at their fields, with the group that is not there.
func TestRuleProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.made("web")
	w.refused(w.call("security_group_rule.create?y=1", `{"direction":"in","protocol":"tcp","priority":-1,"remote_security_group_id":"sg-none-v1","x":1}`, id),
		"y", "direction", "priority", "remote_security_group_id", "x")
	w.refused(w.call("security_group_rule.create", ``, id), "request")
	// The request's problems come before the unknown group.
	w.refused(w.call("security_group_rule.create", `{"direction":"in","protocol":"tcp"}`, "sg-absent-v1"), "direction")
	w.Expect(w.call("security_group_rule.create", tcpRule(80), "sg-absent-v1"), 404)
	if rules := w.group(id)["rules"].([]any); len(rules) != 0 {
		t.Errorf("%v", rules)
	}
}

// TestRepeatWithAKeyIsAnsweredAgain: the two that create keep their first answer.
func TestRepeatWithAKeyIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.Expect(w.call("security_group.create#k1", w.draft("web")), 201)
	if again := w.call("security_group.create#k1", w.draft("web")); again.Text != first.Text || again.Status != 201 {
		t.Errorf("%s", again.Text)
	}
	w.Expect(w.call("security_group.create#k1", w.draft("other")), 409)
	id := first.Body["security_group"].(map[string]any)["id"].(string)
	rule := w.Expect(w.call("security_group_rule.create#k2", tcpRule(80), id), 201)
	if again := w.call("security_group_rule.create#k2", tcpRule(80), id); again.Text != rule.Text || again.Status != 201 {
		t.Errorf("%s", again.Text)
	}
	w.Expect(w.call("security_group_rule.create#k2", tcpRule(81), id), 409)
	if got := w.Expect(w.call("security_group.list", nil), 200); strings.Join(names(got), " ") != "web" || len(w.group(id)["rules"].([]any)) != 1 {
		t.Errorf("%s", got.Text)
	}
}
