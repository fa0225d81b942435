package policytest

import (
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Guard is a guard that denies all new access.
const Guard = "package guards\n\ndeny contains \"new access\" if count(input.new_access) > 0\n"

// Edit returns a random change of a tree with few rows. The rules are those of the embedded tree with random ones
// beside them, or random entry points alone. The edit changes rules, data, rows and roles. Some of the trees do not
// compile. The seed of r decides all texts.
func (inputs *Inputs) Edit(tb testing.TB, r Random, embedded fs.FS) *Edit {
	tb.Helper()
	p := &program{Random: r, inputs: inputs, timed: r.IntN(4) == 0, altered: r.IntN(12) == 0, followed: r.IntN(2) == 0}
	e := &Edit{Base: Few(tb, embedded).With("guards/guards.rego", Guard).With("authz/functions.rego", "package authz\n"+functions)}
	tables := p.tables()
	e.Base = e.Base.With("tables/data.json", tables)
	if helpers := p.helpers(); helpers != "" {
		e.Pieces = append(e.Pieces, p.either("authz/helpers.rego", "", "package authz\n"+helpers))
	}
	if p.IntN(2) == 0 {
		for name := range e.Base {
			if strings.HasPrefix(name, "authz/") && name != "authz/functions.rego" {
				e.Base = e.Base.Without(name)
			}
		}
		head, _, _ := strings.Cut(SmallAuthz, "# METADATA\n# entrypoint: true")
		e.Base = e.Base.With("authz/functions.rego", head+functions)
		for _, entry := range p.entries() {
			e.Pieces = append(e.Pieces, p.either("authz/"+entry+".rego", "", "package authz\n\n"+p.entry(entry)))
		}
	} else {
		for i := range p.IntN(3) {
			e.Pieces = append(e.Pieces, p.piece("authz/rule"+strconv.Itoa(i)+".rego", "", "package authz\n\n"+p.hook()+p.body()+"\n"))
		}
		for range p.IntN(3) {
			e.Pieces = append(e.Pieces, p.shipped(e.Base)...)
		}
	}
	if p.IntN(3) == 0 {
		e.Pieces = append(e.Pieces, Piece{"tables/data.json", tables, tables, p.mutated(tables)})
	}
	for range One(p.Rand, 0, 0, 1, 2) {
		e.Pieces = append(e.Pieces, p.row(e.Base)...)
	}
	return e
}

// hook returns the head of a rule that the embedded rules read.
func (p *program) hook() string {
	return One(p.Rand, "deny contains "+p.reason(), "deny contains "+p.reason(), `deny contains "odd"`, `met contains "needs_same_account"`, `met contains "needs_active_account"`,
		`met contains "needs_active_member"`, `met contains "needs_credential_scope"`, "_open_to_services", "_account_permits", "_about_the_caller", "member_allowed",
		"self_allowed", "asks_self_allowed", "caller_is_subject", "_counts(_)", `_reaches("PROJECT")`, "credential_allows(_)", "_holds(_)", `granting_roles contains "odd"`,
		`_sufficient contains "odd"`, "preconditions_met", `_lacking contains "odd"`, "_permissions(_) := {\"*:*:*\": true}")
}

// piece returns a text of both trees, equal or different in them, or a text of one of them.
func (p *program) piece(file, place, text string) Piece {
	switch p.IntN(8) {
	case 0:
		return Piece{file, place, "", text}
	case 1:
		return Piece{file, place, text, ""}
	}
	return p.either(file, place, text)
}

// either returns a text of both trees, equal or different in them.
func (p *program) either(file, place, text string) Piece {
	switch p.IntN(4) {
	case 0:
		return Piece{file, place, text, text}
	case 1:
		return Piece{file, place, p.mutated(text), text}
	}
	return Piece{file, place, text, p.mutated(text)}
}

// shipped changes or removes a line of the embedded rules, or adds one to a body.
func (p *program) shipped(t Tree) []Piece {
	file := One(p.Rand, "authz/access.rego", "authz/conditions.rego", "authz/credential.rego", "authz/decision.rego", "authz/grantable.rego", "authz/roles.rego", "authz/self_service.rego",
		"authz/service.rego")
	text := string(t[file].Data)
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(line, "package") || strings.Count(text, line+"\n") != 1
	})
	line := One(p.Rand, lines...)
	switch inside := strings.HasPrefix(line, "\t"); {
	case inside && p.IntN(3) == 0:
		return []Piece{{file, line, line, ""}}
	case inside && p.IntN(3) == 0, strings.HasSuffix(line, "if {"):
		return []Piece{{file, line, line, line + "\n\t" + p.line()}}
	}
	return []Piece{{file, line, line, p.mutated(line)}}
}

// row changes, adds or removes a row of the catalogue, changes a role, or makes the list of actions strict.
func (p *program) row(t Tree) (out []Piece) {
	const routes, grants = "routes/data.json", "grants/data.json"
	lines := func(file string) []string {
		return regexp.MustCompile(`(?m)^  ".*\},$`).FindAllString(string(t[file].Data), -1)
	}
	action, pattern := regexp.MustCompile(`"action": "[^"]*"`), regexp.MustCompile(`"[a-z]+:[a-z*_]+:[a-z*]+": true`)
	ids := []string{"account:role:read", "project:kubernetes_cluster:create", "project:security_group:read", "account:user:read", "project:thing:start", "account:thing:read"}
	row, role := One(p.Rand, lines(routes)...), One(p.Rand, lines(grants)...)
	change := func(file, line, next string) { out = append(out, Piece{file, line, line, next}) }
	switch p.IntN(12) {
	case 0, 1:
		change(routes, row, action.ReplaceAllString(row, `"action": "`+One(p.Rand, ids...)+`"`))
	case 2:
		if other := One(p.Rand, lines(routes)...); action.MatchString(row) && action.MatchString(other) && row != other {
			change(routes, row, action.ReplaceAllString(row, action.FindString(other)))
			change(routes, other, action.ReplaceAllString(other, action.FindString(row)))
		}
	case 3:
		effect := map[bool]string{true: `"effect": "write"`, false: `"effect": "read"`}[strings.Contains(row, `"effect": "read"`)]
		change(routes, row, regexp.MustCompile(`"effect": "[a-z]+"`).ReplaceAllString(row, effect))
	case 4:
		word := One(p.Rand, "self", "self_by_token", "asks_self", "member", "public", "service:users:sync", "service:authz:explain")
		if longer := strings.Replace(row, `"access": [`, `"access": ["`+word+`", `, 1); longer != row {
			change(routes, row, longer)
		} else {
			change(routes, row, strings.Replace(row, `"effect"`, `"access": ["`+word+`"], "effect"`, 1))
		}
	case 5:
		if action.MatchString(row) {
			change(routes, row, regexp.MustCompile(`"access": \[[^\]]*\], `).ReplaceAllString(row, ""))
		}
	case 6:
		change(routes, row, "")
	case 7:
		change(routes, row, strings.Replace(row, `"path": "`, `"path": "/moved`, 1))
	case 8:
		change(routes, row, row+"\n"+strings.Replace(strings.Replace(row, `"path": "`, `"path": "/more`, 1), `": {`, `.more": {`, 1))
	case 9:
		change(grants, role, pattern.ReplaceAllString(role, `"`+One(p.Rand, "project:*:*", "account:*:*", "account:thing:read", "project:*:start", "account:user:read")+`": true`))
	case 10:
		change(grants, role, strings.Replace(role, `"permissions": {`, `"permissions": {"`+One(p.Rand, "project:*:start", "account:thing:read", "account:user:*", "resource:*:*")+`": true,`, 1))
	default:
		change("actions/data.json", `"strict": false`, `"strict": true`)
	}
	return out
}

// mutated returns a text of rules or data with one or two changes.
func (p *program) mutated(text string) string {
	for range One(p.Rand, 1, 1, 1, 2) {
		for range 10 {
			if next := p.mutation(text); next != text {
				text = next
				break
			}
		}
	}
	return text
}

func (p *program) mutation(text string) string {
	switch p.IntN(10) {
	case 0, 1, 2:
		return p.replaced(text, quoted(), p.anotherText)
	case 3:
		return p.replaced(text, number(), p.anotherNumber)
	case 4:
		turned := map[string]string{" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " > ", " > ": " >= ", " >= ": " < "}
		return p.replaced(text, regexp.MustCompile(` (==|!=|<=?|>=?) `), func(s string) string { return turned[s] })
	case 5:
		return One(p.Rand, p.replaced(text, regexp.MustCompile(`\bnot `), func(string) string { return "" }),
			p.replaced(text, regexp.MustCompile(`(?m)^\tinput\.`), func(s string) string { return "\tnot " + s[1:] }))
	case 6:
		return p.replaced(text, regexp.MustCompile(`(?m)^\t[^}].*\n`), func(string) string { return "" })
	case 7:
		return p.replaced(text, regexp.MustCompile(`(?m)\bif \{$`), func(s string) string { return s + "\n\t" + p.line() })
	case 8:
		return p.replaced(text, regexp.MustCompile(`\binput\.[a-z]+\.[a-z_]+\b`), func(s string) string { return p.another(p.kindOf(s)).text })
	}
	named := []string{"startswith(", "endswith(", "contains("}
	return p.replaced(text, regexp.MustCompile(`\b(startswith|endswith|contains)\(`), func(string) string { return One(p.Rand, named...) })
}

// replaced returns the text with one match of form, which it draws, replaced.
func (p *program) replaced(text string, form *regexp.Regexp, substitute func(string) string) string {
	places := form.FindAllStringIndex(text, -1)
	if len(places) == 0 {
		return text
	}
	place := One(p.Rand, places...)
	return text[:place[0]] + substitute(text[place[0]:place[1]]) + text[place[1]:]
}

func (p *program) anotherText(constant string) string {
	text := unquoted(constant)
	switch p.IntN(5) {
	case 0:
		text += One(p.Rand, "x", "/below", "*")
	case 1:
		text = text[:p.IntN(len(text)+1)]
	case 2:
		text = One(p.Rand, strings.ToUpper(text), strings.ToLower(text))
	default:
		if all := p.inputs.plain(aText); len(all) > 0 {
			text = unquoted(p.like(One(p.Rand, all...)))
		}
	}
	return strconv.Quote(text)
}

func (p *program) anotherNumber(constant string) string {
	if n, err := strconv.ParseInt(constant, 10, 64); err == nil && n != 0 {
		plain := strconv.FormatInt
		return One(p.Rand, plain(n+1, 10), plain(n-1, 10), plain(n-1, 10)+".5", plain(n, 10)+".0001", plain(-n, 10), plain(n, 10)+"0", strconv.FormatFloat(float64(n+1500), 'e', -1, 64))
	}
	return One(p.Rand, "1", "0.5", "2")
}

// kindOf returns the kind of a value of the input: boolean, integer, and string for all others.
func (p *program) kindOf(path string) string {
	for _, kind := range []string{aFlag, aNumber} {
		for _, v := range p.inputs.plain(kind) {
			if v.text == path {
				return kind
			}
		}
	}
	return aText
}
