package policytest

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program is the random rules of one tree.
type program struct {
	Random
	inputs *Inputs
	// timed lets rules read the time. altered lets them evaluate other rules with another input. The engine caches no
	// verdicts of such rules.
	timed, altered bool
	// followed prefers simple comparisons with constants and data.
	followed bool
	named    int
	uses     []func() []string // conditions on the rules of helpers
}

// functions are called by random rules.
const functions = `
same(a, b) if a == b

kin(a, b) if startswith(a, b)

kin(a, b) if startswith(b, a)

known(a) if data.tables.names[a]

t_named(a) := name if name := data.tables.names[a]

else := a

t_first(a) := split(a, "/")[0]

before(a, b) if a < b
`

// Program returns a tree with random rules: the embedded tree with edits, or a small tree of random rules alone. Some
// of the trees do not compile. The seed of r decides the text.
func (inputs *Inputs) Program(tb testing.TB, r Random, embedded fs.FS) Tree {
	tb.Helper()
	p := &program{Random: r, inputs: inputs, timed: r.IntN(6) == 0, altered: r.IntN(8) == 0}
	if r.IntN(2) == 0 {
		return p.edited(Copy(tb, embedded))
	}
	head, _, _ := strings.Cut(SmallAuthz, "# METADATA\n# entrypoint: true")
	helpers := p.helpers()
	text := head + functions + helpers
	for _, entry := range p.entries() {
		text += "\n# METADATA\n# entrypoint: true\n" + p.entry(entry)
	}
	return Small(tb).With("authz/authz.rego", text).With("authz/authz_test.rego", "package authz_test\n\ntest_nothing if true\n").
		With("tables/data.json", p.tables())
}

func (*program) entries() []string { return []string{"decision", "access", "grantable"} }

// edited returns a tree with random denials, conditions and entry points, and with conditions inserted into its own
// rules.
func (p *program) edited(t Tree) Tree {
	text := "package authz\n" + functions + p.helpers()
	for range One(p.Rand, 0, 1, 1, 2) {
		text += "\ndeny contains " + p.reason() + p.body() + "\n"
	}
	for range p.IntN(3) {
		head := One(p.Rand, `met contains "needs_same_account"`, `met contains "needs_active_account"`, `met contains "needs_account_level"`, `met contains "needs_credential_scope"`,
			"_open_to_services", "_account_permits", "_about_the_caller", `_lacking contains "odd"`, `public_reasons contains ["odd", "odd"]`)
		text += "\n" + head + p.body() + "\n"
	}
	for range One(p.Rand, 0, 1, 2, 4) {
		t = p.inserted(t)
	}
	if entry := One(p.Rand, p.entries()...); p.IntN(4) == 0 {
		file := "authz/" + entry + ".rego"
		kept, rest, _ := strings.Cut(string(t[file].Data), "default "+entry)
		_, helpers, _ := strings.Cut(rest, "\n\n_")
		t = t.With(file, kept+p.entry(entry)+"\n_"+helpers)
		if helpers == "" {
			t = t.With(file, kept+p.entry(entry))
		}
	}
	return t.With("authz/random.rego", text).With("tables/data.json", p.tables())
}

// inserted returns the tree with one more condition in one of its bodies.
func (p *program) inserted(t Tree) Tree {
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(t)), func(name string) bool {
		return !strings.HasPrefix(name, "authz/") || strings.HasSuffix(name, "_test.rego")
	})
	condition := regexp.MustCompile(`^\t+(input\.|some |[a-z_]+\().*[^,(\[|]$`)
	file := One(p.Rand, files...)
	lines := strings.Split(string(t[file].Data), "\n")
	var places []int
	for i, line := range lines {
		if condition.MatchString(line) {
			places = append(places, i+1)
		}
	}
	if len(places) == 0 {
		return t
	}
	return t.With(file, strings.Join(slices.Insert(lines, One(p.Rand, places...), "\t"+p.line()), "\n"))
}

// line returns a condition of one line.
func (p *program) line() string {
	for {
		if lines := p.conditions(p.inputs.root); len(lines) == 1 {
			return lines[0]
		}
	}
}

// body returns the body of a rule with random conditions, and after them those given.
func (p *program) body(given ...string) string {
	var lines []string
	all := p.inputs
	defer func() { p.inputs = all }()
	if p.IntN(3) > 0 {
		p.inputs = all.few(p.Random, p.timed)
	}
	if p.IntN(4) == 0 {
		kind := One(p.Rand, `"user"`, `"user"`, `"service"`, `"none"`)
		lines = append(lines, One(p.Rand, "input.principal.kind == "+kind, kind+" == input.principal.kind", "input.principal.kind != "+kind, "not input.principal.kind == "+kind,
			"input.principal.kind in {"+kind+"}", "same(input.principal.kind, "+kind+")", "not input.principal.kind != "+kind))
	}
	for range One(p.Rand, 1, 1, 1, 2, 3) {
		switch {
		case len(p.uses) > 0 && p.IntN(2) == 0:
			lines = append(lines, One(p.Rand, p.uses...)()...)
		case p.IntN(8) == 0:
			lines = append(lines, counted(p.conditions(p.inputs.root), "== 0"))
		default:
			lines = append(lines, p.conditions(p.inputs.root)...)
		}
	}
	return " if {\n\t" + strings.Join(append(lines, given...), "\n\t") + "\n}"
}

// entry returns an entry point.
func (p *program) entry(name string) (text string) {
	if p.IntN(8) > 0 {
		text = "default " + name + " := " + `{"allow": false, "reason": "none of it"}` + "\n\n"
	}
	text += name + " := " + p.answer() + p.body() + "\n"
	for range One(p.Rand, 0, 1, 2, 3, 5) {
		text += "\nelse := " + p.answer() + p.body() + "\n"
	}
	if name != "decision" && p.IntN(3) == 0 {
		text += "\nelse := decision" + p.body() + "\n"
	}
	if p.IntN(10) == 0 { // conflicts with the rule above for some questions
		text += "\n" + name + " := " + p.answer() + p.body() + "\n"
	}
	return text
}

func (p *program) answer() string {
	allow := One(p.Rand, "true", "true", "false", p.another(aFlag).text)
	if p.IntN(2) == 0 {
		return `{"allow": ` + allow + `, "reason": ` + p.reason() + "}"
	}
	return `{"allow": ` + allow + `, "code": ` + One(p.Rand, `"a"`, `"b"`, `"c"`) + `, "reason": ` + p.reason() + "}"
}

// reason returns the reason of an answer. Half of the time it is a constant: a reason with values of the input makes
// the engine distinguish questions by them.
func (p *program) reason() string {
	t, o := p.another(aText).text, p.another(aText).text
	part, list, x := p.inputs.root, value{text: "[]"}, p.name()
	if parts := p.inputs.plain(aPart); len(parts) > 1 {
		part = One(p.Rand, parts[1:]...)
	} else if !p.timed {
		part.text = "{}"
	}
	if lists := p.inputs.plain(aList); len(lists) > 0 {
		list = One(p.Rand, lists...)
	}
	if p.IntN(2) == 0 {
		return strconv.Quote("reason " + x)
	}
	return One(p.Rand, t, `sprintf("%s in %s", [`+t+`, `+o+`])`, `concat(" ", [`+t+`, "and", `+o+`])`, `json.marshal([`+t+`, `+o+`])`,
		`json.marshal(`+part.text+`)`, `sprintf("%v", [`+p.another(aFlag).text+`])`, `sprintf("%d", [count(`+list.text+`)])`, `json.marshal([`+x+` | some `+x+` in `+list.text+`])`,
		`t_named(`+t+`)`, `min({`+t+`, `+o+`})`)
}

// helpers returns random rules of every form, and adds conditions on them to uses.
func (p *program) helpers() (text string) {
	for range p.IntN(4) {
		h := "h_" + p.name()
		switch p.IntN(6) {
		case 0:
			text += "\n" + h + p.body() + "\n\n" + h + p.body() + "\n"
			p.use("not "+h, h, h)
		case 1:
			text += "\ndefault " + h + " := false\n\n" + h + p.body() + "\n"
			p.use(h, h+" == false")
		case 2:
			text += "\n" + h + ` := "a"` + p.body() + "\n\nelse := " + p.another(aText).text + p.body() + "\n\nelse := \"c\"\n"
			p.use(h+` == "a"`, h+` != "c"`, h+" == "+p.another(aText).text)
		case 3:
			text += "\n" + h + " contains " + p.another(aText).text + p.body() + "\n\n" + h + ` contains "read"` + p.body() + "\n"
			p.use("count("+h+") > 0", h+" != set()", h+"["+p.another(aText).text+"]", `"read" in `+h, `min(`+h+`) == "read"`, "[w | some w in "+h+`][0] == "read"`)
		case 4:
			o := p.another(aText)
			text += "\n" + h + "(a)" + p.body(p.text(value{"a", o.form})) + "\n"
			p.use(h+"("+o.text+")", "not "+h+"("+o.text+")", h+"("+p.another(aText).text+")", h+"("+p.like(o)+")")
		case 5:
			a := p.another(aText)
			text += "\n" + h + "[" + a.text + "] := " + p.another(aText).text + p.body() + "\n"
			p.use("count("+h+") == 1", "[k | some k, _ in "+h+"][0] == "+p.like(a), h+"["+p.like(a)+"]", h+"["+p.another(aText).text+"] == "+p.another(aText).text)
		}
	}
	return text
}

func (p *program) use(conditions ...string) {
	p.uses = append(p.uses, func() []string {
		c := One(p.Rand, conditions...)
		if t := p.another(aText); p.altered && p.IntN(3) > 0 && len(t.seen) > 0 {
			c += " with " + t.text + " as " + p.like(t)
		}
		return []string{c}
	})
}

// tables returns the data that random rules read.
func (p *program) tables() string {
	var words []string
	for _, v := range p.inputs.plain(aText) {
		for _, constant := range v.seen {
			words = append(words, unquoted(constant))
		}
	}
	words = append(words, "user-bob-v1", "acct-demo-v1", "read", "")
	word := func() string { return One(p.Rand, words...) }
	allowed, names, numbers, list := map[string]bool{}, map[string]string{}, map[string]int{}, []string{}
	for range 12 {
		allowed[word()], names[word()], numbers[word()] = true, word(), p.IntN(4)
		list = append(list, word())
	}
	text, _ := json.MarshalIndent(map[string]any{
		"allowed": allowed, "names": names, "numbers": numbers, "list": list, "prefix": word(), "until": p.now(),
	}, "", "  ")
	return string(text)
}
