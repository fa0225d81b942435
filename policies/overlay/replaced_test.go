package overlay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// row returns a public row of routes/data.json.
func row(name, method, place string) string {
	return "{\n\"" + name + `": {"method": "` + method + `", ` + place + `, "access": ["public"], "effect": "read", "upstream": "external"}}`
}

// TestAReplacementReplacesWhatItNames guarantees that a replacement changes only the part of the base in its manifest.
func TestAReplacementReplacesWhatItNames(t *testing.T) {
	const rules = "package authz\n\ntold contains \"needs_same_account\"\n\n"
	for name, c := range map[string]struct{ part, file, text, want string }{
		"every condition met":        {"authz/told.rego", "authz/told.rego", rules + "met contains code if some code in condition_codes", "authz/told.rego:5: met: an overlay says"},
		"every refusal told":         {"authz/told.rego", "authz/told.rego", rules + "public_reasons contains refusal if some refusal in refusals", "authz/told.rego:5: public_reasons: an overlay adds"},
		"a condition without form":   {"authz/told.rego", "authz/told.rego", rules + "condition_codes contains \"needs_more\"", "authz/told.rego:5: condition_codes: an overlay adds"},
		"no deny rule at all":        {"authz/conditions.rego", "authz/conditions.rego", "package authz\n\ndeny := set()", "authz/conditions.rego:3: deny: an overlay adds"},
		"a text of another file":     {"authz/told.rego", "authz/told.rego", rules + "reason_texts[\"no_role\"] := \"x\"", "authz/told.rego:5: reason_texts: no_role is a code of the base"},
		"a built-in function":        {"authz/told.rego", "authz/told.rego", rules + "count(_) := 1", "authz/told.rego:5: count: the rules of the base use this name"},
		"a name in two parts":        {"authz/told.rego", "authz/told.rego", rules + "object.get(_, _, _) := 1", "authz/told.rego:5: object: the rules of the base use this name"},
		"a variable of the base":     {"authz/told.rego", "authz/told.rego", rules + "verb := 1", "authz/told.rego:5: verb: the rules of the base use this name"},
		"a member of another rule":   {"authz/told.rego", "authz/told.rego", rules + "conditions[\"a code\"] := 1", `authz/told.rego:5: conditions["a code"] is a rule of the base (base:authz/conditions.rego)`},
		"a row with others' calls":   {"routes/role.list", "routes/data.json", row("role.list", "POST", `"path": "/api/v1/authorize/accounts/{accountId}"`), "routes/data.json:2: role.list takes calls from authorization.check of the base"},
		"a row of more methods":      {"routes/role.list", "routes/data.json", row("role.list", "PUT", `"path": "/api/v1/accounts/{accountId}/roles/{roleId}/assignments/x"`), "routes/data.json:2: role.list takes calls from role_assignment.put of the base"},
		"a text without its value":   {"reason_texts/role", "authz/x.rego", "package authz\n\nreason_texts[\"role\"] := \"you may\"", "authz/x.rego:3: reason_texts: the rules of the base put 1 values into the text of role"},
		"a text with a percentage":   {"reason_texts/no_role", "authz/x.rego", "package authz\n\nreason_texts[\"no_role\"] := \"100% no\"", "authz/x.rego:3: reason_texts: the rules of the base put 0 values into the text of no_role"},
		"a text in another package":  {"reason_texts/no_role", "apps/x/x.rego", "package apps.x\n\nreason_texts[\"no_role\"] := \"x\"", "policy.json: replaces: nothing in the folder takes the place of reason_texts/no_role"},
		"a file of another package":  {"authz/told.rego", "authz/told.rego", "package routes\n\nx := 1", "authz/told.rego:1: package routes is not an overlay's"},
		"a name that a test is from": {"authz/told.rego", "authz/told.rego", "package authz_test\n\nbase := {}", "authz/told.rego:1: tests are in a file whose name ends in _test.rego"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest := `{"base": "embedded", "replaces": {"` + c.part + `": "x"}}`
			_, err := overlay.Merge(read(t, base(t)), read(t, over("policy.json", manifest, c.file, c.text)))
			var problems overlay.Problems
			if !errors.As(err, &problems) || !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, c.want) }) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestAReplacementHasTheNamesOfItsPart guarantees that each part of the base can be replaced by a copy of itself, a
// file with helpers beside it.
func TestAReplacementHasTheNamesOfItsPart(t *testing.T) {
	b := read(t, base(t))
	rows := over()
	for name := range overlay.Parts(b) {
		folder := over()
		if strings.HasPrefix(name, "routes/") {
			folder = rows
		} else if !strings.HasSuffix(name, ".rego") {
			continue
		}
		changed, err := overlay.Replace(b, read(t, folder), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for file, text := range changed {
			if strings.HasSuffix(file, ".rego") {
				text = append(text, "\nown_more if true\n\n_an_old_helper if true\n"...)
			}
			folder = folder.With(file, string(text))
		}
		if strings.HasPrefix(name, "routes/") {
			rows = folder
			continue
		}
		if _, err := overlay.Merge(b, read(t, folder)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := overlay.Merge(b, read(t, rows)); err != nil {
		t.Error(err)
	}
}
