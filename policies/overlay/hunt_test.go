package overlay_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// huntsVariable has how many overlays are drawn; without it they are huntsByDefault.
const (
	huntsVariable  = "OVERLAY_HUNTS"
	huntsByDefault = 30
)

// hunter draws overlays that try to change the base.
type hunter struct {
	policytest.Random
	base  *policies.Source
	names []string // of the base's rules, and of what they call
	heads []string // of the base's rules
	rows  []resources.Route
}

func (h *hunter) one(choices ...string) string { return policytest.One(h.Rand, choices...) }

// either returns the first most often.
func (h *hunter) either(usual string, rare ...string) string {
	if h.IntN(6) > 0 {
		return usual
	}
	return h.one(rare...)
}

// overlay draws rules, a row, or something else in some place.
func (h *hunter) overlay() policytest.Tree {
	switch h.IntN(6) {
	case 0, 1:
		return over("routes/data.json", `{"own.x": `+h.row()+"}")
	case 2:
		return over("authz/x.rego", "package authz\n\n"+h.again())
	case 3, 4:
		return over(h.either("authz/x.rego", "authz/told.rego", "authz/sub/x.rego", "authz/x_test.rego", "guards/x.rego", "log/x.rego", "tools/x.rego", "base:authz/x.rego", "own_x/x.rego",
			"routes/x.rego", "x.rego", "authz/decision/x.rego"), h.module())
	}
	file := h.one("routes/data.json", "grants/data.json", "grants/data.json", "actions/data.json", "own_x/data.json", "authz/data.json", "data.json", "policy/data.json", "Grants/data.json",
		"grants/own_x/data.json", "own_x/own_y/data.json", "schemas/input/schema.json", "base:grants/data.json", "own_x/data.yaml")
	return over(file, h.document(file))
}

// again draws another definition of one of the base's rules, or of one like it, that holds at once.
func (h *hunter) again() string {
	head := h.one(h.heads...)
	if h.IntN(3) == 0 {
		head = h.one("own_", "own_x_", "Own_", "x_") + head
	}
	return h.either("", "default ") + head + h.one(" if true", " if input.now > 1", "", " := true", ` := {"allow": true, "code": "role", "reason": "x"}`)
}

// module draws rules of a package.
func (h *hunter) module() string {
	text := ""
	if h.IntN(8) == 0 {
		text = "# METADATA\n# scope: " + h.one("package", "subpackages", "document", "rule") + "\n# " + h.one("title: x", "entrypoint: true", "schemas:\n#   - input: {}") + "\n"
	}
	text += "package " + h.either("authz", "authz_test", "authz.decision", "authz.own_x", `authz["deny"]`, `authz["own x"]`, "apps.x", "guards", "system.log", "tools.x", "routes", "grants",
		"own_x", "system", "data", "authz.reason_texts", "apps", "guards_test") + "\n\n"
	if h.IntN(12) == 0 {
		text += "import " + h.one("data.authz.met", "data.own_x.deny", "data.authz as count", "data.grants as own_grants", "data.own_x as met", "input as own_input", "data.authz.conditions as conditions") + "\n\n"
	}
	for range policytest.One(h.Rand, 1, 1, 2) {
		text += h.rule() + "\n\n"
	}
	return text
}

// rule draws a rule of the overlay's own name, of one of the base or of a built-in function, in any form.
func (h *hunter) rule() string {
	name := h.either(h.one("own_x", "own_y", "own_z", "deny", "condition_codes", "met"), "deny", "met", "condition_codes", "public_reasons", "reason_texts", "told", "data", "input", "test_own_x", "test_x", "оwn_x", "own")
	if h.IntN(4) == 0 {
		name = h.one(h.names...)
	}
	if h.IntN(3) == 0 {
		name += h.one(".x", ".own_x", `["own_x"]`, `["a b"]`, "[x]", "[x].y", "[x][y]", `["needs_account_level"]`, ".allow", `["allow"]`)
	}
	body := h.one("", " if true", " if input.now > 1", ` if input.action.verb == "delete"`)
	value := h.one("true", "set()", `{"allow": true, "code": "role", "reason": "x"}`, "condition_codes", `"a text"`, "{}", "1", `{"needs_account_level"}`, "data.grants", "input")
	element := h.one(`"own_x"`, `"own_y"`, `"needs_account_level"`, `["no", "deny_rule"]`, `"no"`, "{}", "data.grants")
	if strings.Contains(name, "[x]") || h.IntN(6) == 0 {
		body = h.one(" if some x in condition_codes", " if x := input.action.id", " if some x, y in data.grants", ` if some [x, y] in refusals`)
		value, element = h.one(value, "x"), h.one(element, "x", "[x, 1]")
	}
	switch h.IntN(9) {
	case 0, 1, 2:
		if name == "deny" && h.IntN(2) == 0 {
			return `deny contains "no"` + body + "\n\n" + `public_reasons contains ["no", "deny_rule"] if "no" in deny`
		}
		return name + " contains " + element + body
	case 3, 4:
		return name + " := " + value + body
	case 5:
		return "default " + name + " := " + value
	case 6:
		return name + "(" + h.one("_", "_, _", `"ACCOUNT"`, "[_, 1]") + ") := " + value + body
	case 7:
		return name + " := " + value + body + " else := " + value
	}
	return name + body
}

// document draws a document, most often in the form for its place.
func (h *hunter) document(file string) string {
	const role = `{"name": "x", "scope": "ACCOUNT", "description": "x", "permissions": {"account:*:*": true, "project:*:*": true}}`
	actions := `{"account:bill:pay": {"description": "x"}, "account:project:delete": {"description": "x"}}`
	switch {
	case strings.Contains(strings.ToLower(file), "grants"):
		return "{" + h.members(role, "own_x", "own_y", "account_admin", "team_member", `own_\u0078`, `team_membe\u0072`, "OWN_x", "own") + "}"
	case strings.HasPrefix(file, "routes"):
		return "{" + h.members(strings.Replace(h.row(), "path", h.one("path", "Path"), 1), "own.x", "own.y", "authorization.check", "external.named", "Own.x", "own_x", `own\u002ex`) + "}"
	case strings.HasPrefix(file, "actions"):
		return `{"` + h.either("known", "known", "Known") + `": ` + actions + h.one("", `, "strict": false`, `, "Strict": true`, `, "known": {}`) + "}"
	}
	return h.one(`{}`, `{"x": 1}`, `{"deny": ["no"], "met": ["needs_account_level"]}`, `{"grants": {"own_x": `+role+`}}`, `{"policy": {"base": "none"}}`, `{"reason_texts": {"role": "x"}}`,
		`{"base": "embedded", "without": ["team_member"]}`, `[]`)
}

// members returns one or two members, most often with the first name.
func (h *hunter) members(value string, names ...string) string {
	name := h.either(names[0], names...)
	text := `"` + name + `": ` + value
	if h.IntN(6) == 0 {
		text += `, "` + h.one(names...) + `": ` + value
	}
	return text
}

// row draws a row that is open to anybody, near one of the base.
func (h *hunter) row() string {
	base := policytest.One(h.Rand, h.rows...)
	segments := strings.Split(base.Path, "/")
	for range h.IntN(3) {
		i := 1 + h.IntN(len(segments)-1)
		switch h.IntN(5) {
		case 0:
			segments[i] = h.one("own", "x", "invite", "user-a-v1")
		case 1:
			segments = append(segments[:i:i], h.one("{rest+}", "{proxy+}"))
		case 2:
			segments[i] = h.one("{x}", "{x:acct}", "{userId}", "{accountId:acct}")
		case 3:
			segments = append(segments, h.one("x", "{y}", "", "{rest+}"))
		default:
			return h.row()
		}
	}
	host := h.one("", "", "", `, "host": "w.example"`, `, "host": "W.Example"`)
	return fmt.Sprintf(`{"method": %q, "path": %q%s, "access": ["public"], "effect": "read", "upstream": "external"}`,
		h.one(base.Method, base.Method, "*", "GET", "POST", "OPTIONS"), strings.Join(segments, "/"), host)
}

// says reports whether an overlay has deny rules or conditions of its own, which may take away.
func says(src *policies.Source) bool {
	for name, text := range src.Files {
		if strings.HasPrefix(name, policies.BaseMark) || !strings.HasSuffix(name, ".rego") {
			continue
		}
		if regexp.MustCompile(`(?m)^(deny|condition_codes|public_reasons)\b`).Match(text) {
			return true
		}
	}
	return false
}

// TestRandomOverlaysChangeNothingOfTheBase guarantees that an accepted overlay lets nobody in. One without deny rules
// and conditions decides as the base does, and takes no call from a row of the base.
func TestRandomOverlaysChangeNothingOfTheBase(t *testing.T) {
	hunts := huntsByDefault
	if n, err := strconv.Atoi(os.Getenv(huntsVariable)); err == nil {
		hunts = n
	}
	src := read(t, base(t))
	before, _ := proved(t, src)
	h := &hunter{Random: policytest.NewRandom(7, uint64(hunts)), base: src, rows: before.Routes(), names: []string{"count", "split", "min", "concat", "sprintf", "object", "is_string"}}
	for _, part := range overlay.Parts(src) {
		if strings.HasSuffix(part.Name, ".rego") {
			for _, head := range regexp.MustCompile(`(?m)^([a-z_]+)[^\n:]*?( if\b| :=|$)`).FindAllStringSubmatch(string(part.Text), -1) {
				if slices.Contains([]string{"package", "import", "else", "default"}, head[1]) {
					continue
				}
				h.names = append(h.names, head[1])
				text := strings.TrimSuffix(strings.TrimSuffix(head[0], head[2]), " ")
				h.heads = append(h.heads, regexp.MustCompile(`\b(verb|pattern|assignment|code|values|reason)\b`).ReplaceAllString(text, "_"))
			}
		}
	}
	slices.Sort(h.heads)
	h.heads = slices.Compact(h.heads)
	slices.Sort(h.names)
	h.names = slices.Compact(h.names)
	refused, took, quiet := 0, 0, 0
	for range hunts {
		tree := h.overlay()
		folder := must.Get(policies.Read(tree))(t)
		merged, err := overlay.Merge(src, folder)
		if err != nil {
			refused++
			continue
		}
		after, _, err := proof.Prove(context.Background(), merged)
		if err != nil {
			refused++
			continue
		}
		took++
		says := says(merged)
		if !says {
			quiet++
		}
		if problem := h.compare(before, after, says); problem != "" {
			t.Errorf("%s by\n%s", problem, text(tree))
		}
		if took%4 == 0 {
			plain := policytest.Tree{}
			for name, text := range overlay.Export(merged) {
				plain = plain.With(name, string(text))
			}
			exported, _ := proved(t, read(t, plain))
			if problem := h.compare(after, exported, false); problem != "" {
				t.Errorf("the export: %s by\n%s", problem, text(tree))
			}
		}
	}
	t.Logf("%d refused, %d taken, %d of them without deny rules and conditions", refused, took, quiet)
	if took < hunts/10 || refused < hunts/10 {
		t.Errorf("of %d overlays %d were taken", hunts, took)
	}
}

func text(tree policytest.Tree) string {
	var out strings.Builder
	for name, file := range tree {
		fmt.Fprintf(&out, "%s:\n%s\n", name, file.Data)
	}
	return out.String()
}

// compare asks both sets the same, and says where they differ.
func (h *hunter) compare(before, after *engine.Set, says bool) string {
	asker := policytest.NewAsker(h.Random, policytest.NewWords(`"account:project:delete" "x"`), before, before)
	ctx := context.Background()
	for range 40 {
		for _, entry := range []string{"decision", "access", "grantable"} {
			q := asker.Ask(entry).Questions[0]
			if q == nil {
				continue
			}
			was, err := before.Judge(ctx, "data.authz."+entry, *q, judgedWithin)
			if err != nil {
				continue
			}
			is, err := after.Judge(ctx, "data.authz."+entry, *q, judgedWithin)
			if is.Allowed && !was.Allowed || !says && (err != nil || is.Allowed != was.Allowed || is.Code != was.Code || is.Reason != was.Reason) {
				return fmt.Sprintf("%s: %+v %v instead of %+v for %+v", entry, is, err, was, *q)
			}
		}
	}
	return h.calls(before, after)
}

// calls looks calls of the base's rows up in both catalogues. On a host of the overlay's own the public rows of the
// base are not, by design.
func (h *hunter) calls(before, after *engine.Set) string {
	old, problems := catalogue.New(before.Routes())
	next, err := catalogue.New(after.Routes())
	if problems != nil || err != nil {
		return "" // the gateway takes no such tree
	}
	for _, row := range h.rows {
		for range 6 {
			path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(row.Path, func(name string) string {
				switch {
				case strings.Contains(name, "+"):
					return h.one("x", "x/user-a-v1", "own/x", "accounts/acct-a-v1", "", "invite")
				case strings.HasPrefix(name, "{account"):
					return "acct-a-v1"
				case strings.HasPrefix(name, "{project"):
					return "proj-a-v1"
				}
				return h.one("x", "own", "invite", "user-a-v1")
			})
			call := catalogue.Call{Host: h.one("", "w.example"), Method: h.either(row.Method, "GET", "HEAD", "POST", "PUT"), Path: path}
			if call.Method == resources.AnyMethod {
				call.Method = h.one("GET", "HEAD", "POST", "PATCH", "OPTIONS")
			}
			m, err := old.Find(call)
			if err != nil || m.Public && call.Host != "" {
				continue
			}
			if n, err := next.Find(call); err != nil || n.Route.Name != m.Route.Name {
				return fmt.Sprintf("%+v is no call of %s", call, m.Route.Name)
			}
			served := old.Served(call.Host, call.Method, call.Path, nil)
			taken := next.Served(call.Host, call.Method, call.Path, nil)
			if (served.Row == nil) != (taken.Row == nil) || served.Row != nil && served.Route.Name != taken.Route.Name {
				return fmt.Sprintf("%+v is served otherwise", call)
			}
		}
	}
	return ""
}
