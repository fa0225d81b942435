package overlay_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// judgedWithin bounds an evaluation, also on a busy machine.
const judgedWithin = time.Minute

func read(t *testing.T, tree policytest.Tree) *policies.Source {
	t.Helper()
	return must.Get(policies.Read(tree))(t)
}

func base(t *testing.T) policytest.Tree { return policytest.Copy(t, policies.Tree()) }

func start(t *testing.T) policytest.Tree { return policytest.Copy(t, overlay.Start()) }

// over has only a manifest, and these files.
func over(files ...string) policytest.Tree {
	tree := policytest.Tree{}.With("policy.json", `{"base": "embedded"}`)
	for i := 0; i < len(files); i += 2 {
		tree = tree.With(files[i], files[i+1])
	}
	return tree
}

func merged(t *testing.T, base, folder policytest.Tree) *policies.Source {
	t.Helper()
	return must.Get(overlay.Merge(read(t, base), read(t, folder)))(t)
}

// proved returns the set of a merged tree, and how many tests it has passed.
func proved(t *testing.T, src *policies.Source) (*engine.Set, int) {
	t.Helper()
	return must.Two(proof.Prove(context.Background(), src))(t)
}

// deletes is an admin's question about a project, asked with a credential.
func deletes(credential string) resources.Question {
	action, _ := resources.ParseAction("account:project:delete")
	const account = "acct-a-v1"
	return resources.Question{
		Principal: resources.Principal{
			Kind: resources.PrincipalUser, ID: "user-a-v1", AccountID: account, Credential: credential, KeyScopes: []string{resources.KeyScopeWrite},
		},
		Action: action, AccountID: account, Now: 1, Target: resources.Target{AccountID: account},
		Facts: resources.Facts{Subject: &resources.Subject{
			AccountID: account, AccountExists: true, AccountStatus: resources.StatusActive,
			UserID: "user-a-v1", UserExists: true, UserStatus: resources.StatusActive, Member: true,
			Assignments: []resources.HeldRole{{
				RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount, RoleStatus: resources.StatusActive, Status: resources.StatusActive,
			}},
		}},
	}
}

func allows(t *testing.T, set *engine.Set, q resources.Question) bool {
	t.Helper()
	d := must.Get(set.Judge(context.Background(), engine.EntryDecision, q, judgedWithin))(t)
	return d.Allowed
}

// newer is a base with a row, a role, a condition and a reason that the program's does not have.
func newer(t *testing.T) policytest.Tree {
	t.Helper()
	tree := base(t)
	add := func(file, member, value string) {
		var rows map[string]json.RawMessage
		must.Do(t, json.Unmarshal(tree[file].Data, &rows))
		rows[member] = json.RawMessage(value)
		text := must.Get(json.Marshal(rows))(t)
		tree = tree.With(file, string(text))
	}
	add("routes/data.json", "widget.list", `{"method": "GET", "path": "/api/v1/widgets", "action": "account:widget:read", "effect": "read", "upstream": "external"}`)
	add("grants/data.json", "widget_reader", `{"name": "W", "scope": "ACCOUNT", "description": "Reads widgets.", "permissions": {"account:widget:read": true}}`)
	return tree.With("authz/widgets.rego", "package authz\n\ncondition_codes contains \"needs_widgets\"\n\nmet contains \"needs_widgets\" if input.action.resource != \"widgets\"\n\n"+
		"reason_texts[\"needs_widgets\"] := \"no widgets\"\n")
}

// TestARuleAndItsTestDecide guarantees that a folder of one rule and its test is a whole policy: what it denies is
// denied, the rest is as the base has it, its own test runs and the base's promises with it, and one revision names
// both.
func TestARuleAndItsTestDecide(t *testing.T) {
	src := merged(t, base(t), start(t))
	set, tests := proved(t, src)
	if allows(t, set, deletes(resources.CredentialKey)) || !allows(t, set, deletes(resources.CredentialToken)) {
		t.Error("the deny rule does not decide")
	}
	promises := merged(t, base(t), over())
	if _, fewer := proved(t, promises); tests != fewer+1 || fewer < 3 {
		t.Errorf("%d tests with the overlay's one, %d without", tests, fewer)
	}
	whole := read(t, base(t))
	if src.Base != whole.Revision || src.Revision == whole.Revision || src.Revision == promises.Revision {
		t.Errorf("revision %s over %s", src.Revision, src.Base)
	}
	bad := start(t)
	bad = bad.With("authz/own_keys.rego", strings.Replace(string(bad["authz/own_keys.rego"].Data), "not own_signed_in", "own_signed_in", 1))
	if _, _, err := proof.Prove(context.Background(), merged(t, base(t), bad)); err == nil || !strings.Contains(err.Error(), "authz/own_keys_test.rego:") {
		t.Errorf("a rule that fails its test: %v", err)
	}
}

// TestAnUpgradeTakesNothingFromAnOverlay guarantees that a base with one row, one role and one condition more takes the
// same folder, and has it tested anew.
func TestAnUpgradeTakesNothingFromAnOverlay(t *testing.T) {
	src := merged(t, newer(t), start(t))
	set, _ := proved(t, src)
	if len(set.Roles()) != 6 || !slices.ContainsFunc(set.Routes(), func(r resources.Route) bool { return r.Name == "widget.list" }) {
		t.Error("the upgrade is not in force")
	}
	if allows(t, set, deletes(resources.CredentialKey)) || !allows(t, set, deletes(resources.CredentialToken)) {
		t.Error("the deny rule does not decide")
	}
	if src.Revision == merged(t, base(t), start(t)).Revision || len(src.Warnings) > 0 {
		t.Errorf("%s %q", src.Revision, src.Warnings)
	}
}

// TestEachExtensionPoint guarantees that an overlay's condition, texts, public reason, role, row and actions are in
// force.
func TestEachExtensionPoint(t *testing.T) {
	folder := over(
		"authz/x.rego", `package authz

condition_codes contains "own_open"

met contains "own_open" if input.account.id != "acct-a-v1"

reason_texts["own_open"] := "the account is closed"

deny contains "no deletes" if input.action.verb == "delete"

public_reasons contains ["no deletes", "deny_rule"] if "no deletes" in deny
`,
		"grants/data.json", `{"own_oncall": {"name": "O", "scope": "ACCOUNT", "description": "On call.", "permissions": {"project:*:*": true}}}`,
		"routes/data.json", `{"own.bill": {"method": "GET", "host": "bill.example", "path": "/bills", "action": "account:bill:read", "effect": "read", "upstream": "external"}}`,
		"actions/data.json", `{"strict": true, "known": {"account:bill:pay": {"description": "Pays a bill."}}}`,
		"own_tables/data.json", `{"x": 1}`,
		"apps/notes/notes.rego", "# METADATA\n# scope: package\n# schemas:\n#   - input: schema.app.schema\npackage apps.notes\n\ntypes := {\"note\"}\n\n"+
			"decision := input.facts.member\n",
	)
	set, _ := proved(t, merged(t, base(t), folder))
	d, err := set.Judge(context.Background(), engine.EntryDecision, deletes(resources.CredentialToken), judgedWithin)
	if err != nil || d.Allowed || d.Reason != "no deletes" {
		t.Errorf("%+v %v", d, err)
	}
	read := deletes(resources.CredentialToken)
	read.Action, _ = resources.ParseAction("account:project:read")
	if d, err := set.Judge(context.Background(), engine.EntryDecision, read, judgedWithin); err != nil || d.Allowed || d.Code != "own_open" {
		t.Errorf("%+v %v", d, err)
	}
	if len(set.Roles()) != 6 || !set.Strict() || !slices.ContainsFunc(set.Actions(), func(a resources.ListedAction) bool { return a.ID == "account:bill:pay" }) {
		t.Error("data of the overlay is missing")
	}
	if _, exists := set.App("note"); !exists {
		t.Error("the app is missing")
	}
}

// refused are overlays that would change the base without saying so, with what each problem says.
var refused = map[string]struct{ file, text, want string }{
	"an entry point again":             {"authz/x.rego", "package authz\n\ndecision := {\"allow\": true}", "authz/x.rego:3: decision is a rule of the base (base:authz/decision.rego)"},
	"an entry point's default again":   {"authz/x.rego", "package authz\n\ndefault decision := {\"allow\": true}", "authz/x.rego:3: decision is a rule of the base"},
	"a member of an entry point":       {"authz/x.rego", "package authz\n\ndecision.allow := true", "authz/x.rego:3: decision.allow is a rule of the base"},
	"a helper of the base again":       {"authz/x.rego", "package authz\n\n_credential_suffices if true", "authz/x.rego:3: _credential_suffices is a rule of the base"},
	"a function of the base again":     {"authz/x.rego", "package authz\n\n_reaches(_) if true", "authz/x.rego:3: _reaches is a rule of the base"},
	"a condition of the base met":      {"authz/x.rego", "package authz\n\nmet contains \"needs_active_member\" if true", "authz/x.rego:3: met: an overlay says"},
	"a condition met that is not own":  {"authz/x.rego", "package authz\n\ncondition_codes contains \"needs_x\"\n\nmet contains \"needs_x\" if true", "authz/x.rego:3: condition_codes: an overlay adds"},
	"a condition met by a variable":    {"authz/x.rego", "package authz\n\nmet contains code if some code in condition_codes", "authz/x.rego:3: met: an overlay says"},
	"a condition not listed":           {"authz/x.rego", "package authz\n\nmet contains \"own_x\" if true", "authz/x.rego:3: met: an overlay says"},
	"a condition without a text":       {"authz/x.rego", "package authz\n\ncondition_codes contains \"own_x\"\n\nmet contains \"own_x\" if input.now > 1", "authz/x.rego:3: condition_codes: own_x has no text"},
	"a condition that comes and goes":  {"authz/x.rego", "package authz\n\ncondition_codes contains \"own_x\" if input.now > 1", "authz/x.rego:3: condition_codes: an overlay adds"},
	"all conditions at once":           {"authz/x.rego", "package authz\n\nmet := condition_codes", "authz/x.rego:3: met: an overlay says"},
	"deny as a value":                  {"authz/x.rego", "package authz\n\ndeny := set()", "authz/x.rego:3: deny: an overlay adds"},
	"a default of deny":                {"authz/x.rego", "package authz\n\ndefault deny := set()", "authz/x.rego:3: deny: an overlay adds"},
	"a text of the base":               {"authz/x.rego", "package authz\n\nreason_texts[\"no_role\"] := \"x\"", "authz/x.rego:3: reason_texts: no_role is a code of the base"},
	"a text by a dot":                  {"authz/x.rego", "package authz\n\nreason_texts.no_role := \"x\"", "authz/x.rego:3: reason_texts: no_role is a code of the base"},
	"a text of no own code":            {"authz/x.rego", "package authz\n\nreason_texts[\"late\"] := \"x\"", "authz/x.rego:3: reason_texts: the code of an own reason begins with own_"},
	"texts by a variable":              {"authz/x.rego", "package authz\n\nreason_texts[code] := \"x\" if some code in condition_codes", "authz/x.rego:3: reason_texts: an overlay adds"},
	"a text that is computed":          {"authz/x.rego", "package authz\n\nreason_texts[\"own_x\"] := input.account.id", "authz/x.rego:3: reason_texts: an overlay adds"},
	"all texts at once":                {"authz/x.rego", "package authz\n\nreason_texts := {}", "authz/x.rego:3: reason_texts: an overlay adds"},
	"refusals of the base for all":     {"authz/x.rego", "package authz\n\npublic_reasons contains refusal if some refusal in refusals", "authz/x.rego:3: public_reasons: an overlay adds"},
	"a refusal that is not own":        {"authz/x.rego", "package authz\n\npublic_reasons contains [\"the account is suspended\", \"needs_active_account\"]", "authz/x.rego:3: public_reasons: an overlay adds"},
	"told":                             {"authz/x.rego", "package authz\n\ntold contains \"needs_active_project\"", "authz/x.rego:3: told is a rule of the base"},
	"a name that a base may take":      {"authz/x.rego", "package authz\n\nhelper if true", "authz/x.rego:3: helper: the name of an own rule begins with own_"},
	"package grants":                   {"authz/x.rego", "package grants\n\nx := 1", "authz/x.rego:1: package grants is not an overlay's"},
	"package routes":                   {"authz/x.rego", "package routes\n\nx := 1", "authz/x.rego:1: package routes is not an overlay's"},
	"a package below an entry point":   {"authz/x.rego", "package authz.decision\n\nallow := true", "authz/x.rego:1: package authz.decision is not an overlay's"},
	"a package below deny":             {"authz/x.rego", "package authz.deny\n\nx := 1", "authz/x.rego:1: package authz.deny is not an overlay's"},
	"a package of its own":             {"authz/x.rego", "package mine\n\nx := 1", "authz/x.rego:1: package mine is not an overlay's"},
	"rules in the tests' package":      {"authz/x.rego", "package authz_test\n\nown_x := 1", "authz/x.rego:1: tests are in a file whose name ends in _test.rego"},
	"an annotation of the package":     {"authz/x.rego", "# METADATA\n# scope: package\n# schemas:\n#   - input: {}\npackage authz\n\nown_x := input.nothing", "authz/x.rego:1: an annotation with schemas"},
	"an annotation of a rule":          {"authz/x.rego", "package authz\n\n# METADATA\n# schemas:\n#   - input: {}\nown_x := input.nothing", "authz/x.rego:3: an annotation with schemas"},
	"a fixture again":                  {"authz/x_test.rego", "package authz_test\n\nquestion(_, _) := {}", "authz/x_test.rego:3: question is a rule of the base (base:authz/fixtures_test.rego)"},
	"a helper of tests":                {"authz/x_test.rego", "package authz_test\n\nhelper := 1", "authz/x_test.rego:3: helper: the name of an own test begins with test_own_"},
	"a test of no own name":            {"authz/x_test.rego", "package authz_test\n\ntest_x if true", "authz/x_test.rego:3: test_x: the name of an own test begins with test_own_"},
	"data beside the rules":            {"authz/data.json", `{"reason_texts": {}}`, "authz/data.json: the data beside the base's rules is the base's"},
	"a schema":                         {"schemas/input/schema.json", `{}`, "schemas/input/schema.json: the schemas are the base's"},
	"data of any name":                 {"tables/data.json", `{}`, "tables/data.json: an overlay has no folder tables"},
	"data below grants":                {"grants/more/data.json", `{"x": {}}`, "grants/more/data.json: must be grants/data.json"},
	"data at the root":                 {"data.json", `{"grants": {}}`, "data.json: an overlay has no such file"},
	"a role of the base":               {"grants/data.json", "{\n\"team_member\": {\"name\": \"x\", \"scope\": \"ACCOUNT\", \"description\": \"x\", \"permissions\": {\"account:*:*\": true}}}", "grants/data.json:2: team_member is a role of the base"},
	"a role that a base may have":      {"grants/data.json", "{\n\"oncall\": {}}", "grants/data.json:2: oncall: the name of an own role begins with own_"},
	"a row of the base":                {"routes/data.json", "{\n\"authorization.check\": {}}", "routes/data.json:2: authorization.check is a row of the base"},
	"a row that a base may have":       {"routes/data.json", "{\n\"bill.read\": {\"method\": \"GET\", \"path\": \"/bills\"}}", "routes/data.json:2: bill.read: the name of an own row begins with own."},
	"a row with the calls of the base": {"routes/data.json", "{\n\"own.x\": {\"method\": \"POST\", \"path\": \"/api/v1/authorize/{proxy+}\", \"access\": [\"public\"]}}", "routes/data.json:2: own.x takes calls from authorization.check of the base"},
	"a row with better calls":          {"routes/data.json", "{\n\"own.x\": {\"method\": \"POST\", \"path\": \"/api/v1/authorize/accounts/{accountId}\", \"access\": [\"public\"]}}", "routes/data.json:2: own.x takes calls from authorization.check of the base"},
	"a row of a host with its calls":   {"routes/data.json", "{\n\"own.x\": {\"method\": \"POST\", \"host\": \"h.example\", \"path\": \"/api/v1/authorize/{proxy+}\", \"access\": [\"public\"]}}", "routes/data.json:2: own.x takes calls from authorization.check of the base"},
	"deny by a key":                    {"authz/x.rego", "package authz\n\ndeny[x] contains \"no\" if x := input.action.id", "authz/x.rego:3: deny: an overlay adds"},
	"a public reason without its rule": {"authz/x.rego", "package authz\n\ndeny contains \"no\" if input.now < 1\n\npublic_reasons contains [\"no\", \"deny_rule\"] if input.target.project_state == \"deleting\"", "authz/x.rego:5: public_reasons: an overlay adds"},
	"a public reason by an import":     {"authz/x.rego", "package authz\n\nimport data.own_x.deny\n\ndeny contains \"no\" if input.now < 1\n\npublic_reasons contains [\"no\", \"deny_rule\"] if \"no\" in deny", "authz/x.rego:7: public_reasons: an overlay adds"},
	"a second manifest":                {"policy/data.json", `{"base": "embedded", "replaces": {"grants/team_member": "x"}}`, "policy/data.json: an overlay has no folder policy"},
	"without what it replaces":         {"policy.json", `{"base": "embedded", "without": ["team_member"], "replaces": {"grants/team_member": "x"}}`, "policy.json: without: team_member is in replaces, too"},
	"a file that does not parse":       {"authz/x.rego", "package authz\n\ndecision := ", "authz/x.rego:3: rego_parse_error"},
	"a member twice":                   {"policy.json", `{"base": "none", "base": "embedded"}`, "policy.json: must be an object with base, replaces and without"},
	"a base of no name":                {"policy.json", `{"base": "mine"}`, `policy.json: base must be "embedded" or "none", not "mine"`},
	"an unknown member":                {"policy.json", `{"base": "embedded", "bases": 1}`, "policy.json: must be an object with base, replaces and without"},
	"a replacement of nothing":         {"policy.json", `{"base": "embedded", "replaces": {"grants/none": "x"}}`, "policy.json: replaces: the base has no grants/none"},
	"a replacement that is missing":    {"policy.json", `{"base": "embedded", "replaces": {"grants/team_member": "x"}}`, "policy.json: replaces: nothing in the folder takes the place of grants/team_member"},
	"a replacement without revision":   {"policy.json", `{"base": "embedded", "replaces": {"grants/team_member": ""}}`, "policy.json: replaces: grants/team_member has no revision"},
	"an entry point's file by halves":  {"policy.json", `{"base": "embedded", "replaces": {"authz/decision.rego": "x"}}`, "policy.json: replaces: nothing in the folder takes the place of authz/decision.rego"},
	"without a role that is not there": {"policy.json", `{"base": "embedded", "without": ["none"]}`, "policy.json: without: the base has no system role none"},
	"replaces without a base":          {"policy.json", `{"base": "none", "replaces": {"grants/team_member": "x"}}`, "policy.json: replaces and without are about a base"},
}

// TestWaysToWeakenTheBaseAreRefused guarantees that nothing in an overlay changes the base by accident. The error has
// the file, the line and the remedy.
func TestWaysToWeakenTheBaseAreRefused(t *testing.T) {
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := overlay.Merge(read(t, base(t)), read(t, over().With(c.file, c.text)))
			var problems overlay.Problems
			if !errors.As(err, &problems) || !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, c.want) }) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestAllProblemsAreReported guarantees that an author learns of everything at once.
func TestAllProblemsAreReported(t *testing.T) {
	folder := over("authz/a.rego", "package authz\n\nx if true\n\ndecision := 1", "grants/data.json", `{"a": {}}`, "schemas/x.json", "{}")
	_, err := overlay.Merge(read(t, base(t)), read(t, folder))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 4 {
		t.Errorf("%q", lines)
	}
}

// TestAReplacementIsFollowed guarantees that a replacement is in force, and stays after an upgrade of the replaced
// part. A warning shows the difference then.
func TestAReplacementIsFollowed(t *testing.T) {
	role := `{"name": "Team member", "scope": "ACCOUNT", "description": "Less.", "permissions": {"account:role:read": true}}`
	file := string(base(t)["authz/self_service.rego"].Data)
	for name, c := range map[string]struct{ file, text, newer, difference string }{
		"grants/team_member":      {"grants/data.json", `{"team_member": ` + role + `}`, `"Sees who and what`, "-  \"description\": \"NEW"},
		"authz/self_service.rego": {"authz/self_service.rego", file + "\nown_more if true\n", "", "+own_more if true"},
		"reason_texts/no_role":    {"authz/own_reasons.rego", "package authz\n\nreason_texts[\"no_role\"] := \"ask your admin\"\n", "no active role of the user grants", `+reason_texts["no_role"] := "ask your admin"`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := over(c.file, c.text)
			changed, err := overlay.Replace(read(t, base(t)), read(t, folder), name)
			if err != nil || len(changed) != 1 {
				t.Fatalf("%v %v", slices.Collect(maps.Keys(changed)), err)
			}
			folder = folder.With(overlay.ManifestFile, string(changed[overlay.ManifestFile]))
			src := merged(t, base(t), folder)
			if _, tests := proved(t, src); len(src.Warnings) > 0 || tests < 3 {
				t.Errorf("%q", src.Warnings)
			}
			upgraded := base(t)
			for file, content := range upgraded {
				if text := string(content.Data); c.newer == "" && file == name {
					upgraded = upgraded.With(file, text+"\n_newer if true\n")
				} else if c.newer != "" && !strings.HasSuffix(file, "_test.rego") {
					upgraded = upgraded.With(file, strings.Replace(text, c.newer, "NEW of the user grants", 1))
				}
			}
			if name == "grants/team_member" {
				upgraded = upgraded.With("grants/data.json", strings.Replace(string(base(t)["grants/data.json"].Data), "Sees who", "NEW who", 1))
			}
			after := merged(t, upgraded, folder)
			if len(after.Warnings) != 1 || !strings.Contains(after.Warnings[0], c.difference) || !strings.HasPrefix(after.Warnings[0], name+" was replaced at revision ") {
				t.Errorf("%q", after.Warnings)
			}
			if _, kept := after.Files[c.file]; !kept {
				t.Error("the replacement is gone")
			}
			proved(t, after)
		})
	}
}

// TestReplaceCopiesThePart guarantees that an unchanged copy decides as the base does.
func TestReplaceCopiesThePart(t *testing.T) {
	whole, _ := proved(t, read(t, base(t)))
	for _, name := range []string{"grants/team_member", "routes/authorization.check", "authz/roles.rego", "authz/conditions.rego", "authz/reasons.rego", "reason_texts/no_role"} {
		folder := over()
		changed, err := overlay.Replace(read(t, base(t)), read(t, folder), name)
		if err != nil || len(changed) != 2 {
			t.Fatalf("%s: %v", name, err)
		}
		for file, text := range changed {
			folder = folder.With(file, string(text))
		}
		set, _ := proved(t, merged(t, base(t), folder))
		if !slices.EqualFunc(set.Roles(), whole.Roles(), func(a, b resources.Role) bool { return a.ID == b.ID && slices.Equal(a.Permissions, b.Permissions) }) {
			t.Errorf("%s: other roles", name)
		}
	}
	for _, name := range []string{"grants/none", "authz/roles_test.rego", "schemas/input/schema.json", ""} {
		if _, err := overlay.Replace(read(t, base(t)), read(t, over()), name); err == nil {
			t.Errorf("%q was replaced", name)
		}
	}
}

// TestARoleOfTheBaseIsTakenAway by `without`.
func TestARoleOfTheBaseIsTakenAway(t *testing.T) {
	set, _ := proved(t, merged(t, base(t), over("policy.json", `{"base": "embedded", "without": ["team_member"]}`)))
	if slices.ContainsFunc(set.Roles(), func(r resources.Role) bool { return r.ID == "team_member" }) || len(set.Roles()) != 4 {
		t.Error("the role is there")
	}
}

// TestAWholeTreeStaysAsItIs, with a manifest that says so and without one.
func TestAWholeTreeStaysAsItIs(t *testing.T) {
	whole := read(t, base(t))
	for _, tree := range []policytest.Tree{base(t), base(t).With("policy.json", `{"base": "none"}`)} {
		src, err := overlay.Read(tree)
		if err != nil || src.Revision != whole.Revision || src.Base != "" {
			t.Errorf("%+v %v", src.Revision, err)
		}
	}
}

// TestNoFolderHasAFileOfTheProgram guarantees that base:authz/decision.rego in a message is always the program's.
func TestNoFolderHasAFileOfTheProgram(t *testing.T) {
	for _, tree := range []policytest.Tree{base(t), start(t), base(t).With("policy.json", `{"base": "none"}`)} {
		_, err := overlay.Read(tree.With("base:authz/decision.rego", "package authz"))
		if err == nil || !strings.HasPrefix(err.Error(), "base:authz/decision.rego: a name that begins with base:") {
			t.Errorf("%v", err)
		}
	}
}

// TestTheExportIsTheSameTree guarantees that a merged tree written as plain files decides and is tested as the merged
// one is.
func TestTheExportIsTheSameTree(t *testing.T) {
	folder := start(t).With("grants/data.json", `{"own_oncall": {"name": "O", "scope": "ACCOUNT", "description": "On call.", "permissions": {"project:*:*": true}}}`).
		With("actions/data.json", `{"known": {"account:bill:pay": {"description": "Pays a bill."}}}`)
	src := merged(t, base(t), folder)
	plain := policytest.Tree{}
	for name, text := range overlay.Export(src) {
		plain = plain.With(name, string(text))
	}
	set, tests := proved(t, src)
	exported, exportedTests := proved(t, read(t, plain))
	if tests != exportedTests || len(set.Roles()) != len(exported.Roles()) || len(set.Actions()) != len(exported.Actions()) {
		t.Errorf("%d and %d tests, %d and %d roles", tests, exportedTests, len(set.Roles()), len(exported.Roles()))
	}
	if allows(t, exported, deletes(resources.CredentialKey)) {
		t.Error("the deny rule is lost")
	}
}
