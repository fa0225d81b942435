package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Plan says which rows tell the questions to one entry point apart: those that its rules can read. Other rules count
// for other kinds of principals; the kind is a part of the key wherever that makes a difference.
type Plan struct {
	// Entry is the number of the entry point, a part of the key.
	Entry int
	// ByKind are the rows by the principal's kind.
	ByKind map[string]Rows
	// Compared are the texts of which the key holds no more than which constants they equal, by their rows.
	Compared map[int]*Compared
}

// NewPlan returns the plan of an entry point, a rule of the compiled tree, from what its rules do (UsesOf). It is nil where
// no verdict may be reused. The rules must call built-ins by OPA's own names.
func NewPlan(c *ast.Compiler, rule string, entry int, uses *Uses) *Plan {
	compared := uses.compared()
	paths, ok := inputsOf(reachable(c, rule))
	if !ok || slices.ContainsFunc(paths, uses.readsTime) {
		return nil
	}
	plan := &Plan{Entry: entry, ByKind: map[string]Rows{}, Compared: compared}
	for _, kind := range principalKinds() {
		paths, _ := inputsOf(branchesFor(c, rule, kind))
		plan.ByKind[kind] = At(paths)
	}
	return plan
}

// Reads says whether the verdict of a question by a principal of the kind may depend on the value at one of the paths.
func (p *Plan) Reads(kind string, paths ...string) bool {
	if !slices.Contains(principalKinds(), kind) {
		kind = resources.PrincipalNone
	}
	return p == nil || slices.ContainsFunc(p.ByKind[kind], func(i int) bool { return slices.Contains(paths, table()[i].Path) })
}

// Key appends what names the question's verdict. No two questions with unlike verdicts share a key.
func (p *Plan) Key(b []byte, in *Input) []byte {
	b = appendNumber(b, int64(p.Entry))
	for _, i := range p.ByKind[in.kind()] {
		row := &table()[i]
		if column := p.Compared[i]; column != nil {
			b = column.appendTo(b, row.term(in).Value)
			continue
		}
		b = row.key(b, in)
	}
	return b
}

// Texts has a line for each rule for which the key holds a text whole, with its place: it costs a verdict for each value of
// that text.
func (p *Plan) Texts(uses *Uses) (lines []string) {
	if p == nil {
		return nil
	}
	for i := range table() {
		row := &table()[i]
		read := false
		for _, rows := range p.ByKind {
			read = read || slices.Contains(rows, i)
		}
		if !read || row.Kind != Text || p.Compared[i] != nil {
			continue
		}
		for _, use := range slices.Concat(uses.Others[""], uses.Others[row.Path], uses.Printed[row.Path]) {
			lines = append(lines, place(use.At)+": input."+row.Path+" is "+use.Why)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func place(at *ast.Location) string { return at.File + ":" + strconv.Itoa(at.Row) }

// readsTime says whether a path is that of the time, or of the whole input, which has the time in it. A time that is only
// compared with constants is the interval between two of them, which the key holds.
func (u *Uses) readsTime(path string) bool {
	if u == nil || path == "" {
		return path == "" || within(path, "now")
	}
	return within(path, "now") && len(u.Others[""])+len(u.Others["now"])+len(u.Printed["now"]) > 0
}

// within says whether the value at a path is the one at the other, or below it; "" is the whole input.
func within(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}
