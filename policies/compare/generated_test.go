package compare_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// mutant is one change of the embedded tree.
type mutant struct {
	kind, name string
	tree       policytest.Tree
}

// generated are changes of each line of the rules and of each row of the data that there is something to change in.
// Some of them change no answer, or don't compile.
func generated(tree policytest.Tree) (out []mutant) {
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if !strings.HasPrefix(file, "authz/") || strings.HasSuffix(file, "_test.rego") {
			continue
		}
		lines := strings.SplitAfter(string(tree[file].Data), "\n")
		for i, line := range lines {
			for _, change := range ofLine(line) {
				text := strings.Join(lines[:i], "") + change[1] + strings.Join(lines[i+1:], "")
				out = append(out, mutant{change[0], fmt.Sprintf("%s:%d: %s", file, i+1, strings.TrimSpace(line)), tree.With(file, text)})
			}
		}
	}
	return append(append(out, ofGrants(tree)...), ofRoutes(tree)...)
}

// edits are a kind of change each.
func edits() []struct{ kind, pattern, replacement string } {
	return []struct{ kind, pattern, replacement string }{
		{"condition removed", `^\t[^ ]*(input|assignment|role)\.[^:=]*( [=!<>]=? .*)?\n$`, ""},
		{"condition removed", `^\t(not )?[a-z_]+(\(.*\))?\n$`, ""},
		{"condition removed", `^(.*[^e]) if [^{]*\n$`, "$1\n"},
		{"condition negated", ` == `, ` != `},
		{"condition negated", ` != `, ` == `},
		{"condition negated", `^(\t|.* if )not (.*)$`, `$1$2`},
		{"condition negated", `^(\t|[^#]* if )((input\.|_|[a-z]+_)[a-z_.]+(\(.*\))?)\n$`, "${1}not $2\n"},
		{"bound moved", ` <= `, ` < `},
		{"bound moved", ` > 0`, ` > 1`},
		{"bound moved", `(count\(.*\)) == 0`, `$1 <= 1`},
		{"constant changed", `"ACTIVE"`, `"INACTIVE"`},
		{"constant changed", `"(token|key)"\n$`, "\"none\"\n"},
		{"constant changed", `"(user|service|none)"\n$`, "\"other\"\n"},
		{"constant changed", `(running|outlasts_grant) == true`, `$1 == false`},
		{"constant changed", `(custom|is_caller|named) == false`, `$1 == true`},
		{"set widened", `\{"(write|read)"\}`, `{}`},
		{"set narrowed", `\{"read", "write"\}`, `{"read", "write", "admin"}`},
		{"set narrowed", `\{"project", "resource"\}`, `{"project"}`},
		{"set widened", `\{"project", "resource"\}`, `{"project", "resource", "account"}`},
		{"set widened", `\{"caller", "caller_by_uuid"\}`, `{"caller", "caller_by_uuid", "other"}`},
		{"set narrowed", `\{"caller", "caller_by_uuid"\}`, `{"caller"}`},
		{"constant changed", `_reaches\("ACCOUNT"\)`, `_reaches("PROJECT")`},
		{"element removed", `^\t"(needs_[a-z_]+)",\n$`, ""},
		{"element removed", `"needs_[a-z_]+", `, ""},
		{"rule removed", `^(else :=|met contains|_open_to_services|_credential_suffices|credential_allows|refusals|_untold|told) .*\n$`, ""},
		{"default changed", `^(default .*)"allow": false(.*)$`, `$1"allow": true$2`},
		{"answer turned", `^(else := )denied(.*)$`, `${1}allowed$2`},
		{"answer turned", `^((access|grantable|else) := )allowed(.*)$`, `${1}denied$3`},
		{"answer turned", `^((allowed|denied)\(.*"allow": )(true)(.*)$`, `${1}false$4`},
		{"answer turned", `^((denied|refused)\(.*"allow": )(false)(.*)$`, `${1}true$4`},
		{"reason changed", `^(\t"[a-z_]+": "[^"%]*)",\n$`, "$1, really\",\n"},
		{"reason changed", `(denied|allowed)\("([a-z_]+)"`, `$1("incomplete"`},
		{"another least", `\bmin\(`, `max(`},
		{"other word", `route\.access\.(public|self|self_by_token|member|asks_self)`, `route.access.other`},
		{"other operand", `input\.subject\.is_caller$`, `input.subject.exists`},
		{"other operand", `target\.about == "caller"`, `target.about != "caller"`},
		{"other operand", `input\.route\.effect`, `"read"`},
		{"other operand", `input\.action\.verb`, `"read"`},
	}
}

// ofLine are the changes of one line, each with its kind.
func ofLine(line string) (out [][2]string) {
	if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "package") {
		return nil
	}
	for _, e := range edits() {
		pattern := regexp.MustCompile(e.pattern)
		if changed := pattern.ReplaceAllString(line, e.replacement); changed != line {
			out = append(out, [2]string{e.kind, changed})
		}
	}
	return out
}
