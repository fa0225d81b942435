package question

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Labels of what is no row of the table by itself.
const (
	// HereRole and HerePermissions are members of the assignments of subject.here.
	HereRole        = "subject.here.role"
	HerePermissions = "subject.here.permissions"
	// Segment is a segment of a permission.
	Segment     = "a segment of a permission"
	here        = "subject.here"
	index       = "the place in subject.here"
	serviceWord = "service:<scope>"
)

// Documents returns the data of a tree at a reference, nil for none.
type Documents func(ref ast.Ref) (ast.Value, error)

// Use is one place at which rules use a value.
type Use struct {
	At  *ast.Location
	Why string
}

// Uses says what the rules of an entry point do with the open values and the texts of the input. It follows a closed list
// of forms: the comparison with constants (==, !=, in, a look-up in a table of constants, startswith, and, of numbers,
// their order), in rules, functions, variables, sets and lists; and of permissions their segments and the generalisations
// that are made of these. All else is in Others.
type Uses struct {
	// Constants are those with which a value is compared, by its path.
	Constants map[string][]ast.Value
	// Prefixes are those that a value is asked to begin with.
	Prefixes map[string][]string
	// Printed are the places at which a value becomes a part of a reason or of another text, by its path.
	Printed map[string][]Use
	// Others are the uses that are not followed, by path; "" are those that concern every value.
	Others map[string][]Use
}

// UsesOf finds what the rules of an entry point do. The error is of the first document that can't be read.
func UsesOf(c *ast.Compiler, entry string, read Documents) (*Uses, error) {
	f := &follower{
		compiler: c, read: read, heads: map[string]*flow{}, params: map[string][]*flow{}, vars: map[*ast.Rule]map[ast.Var]*flow{},
		constants: map[string]map[string]ast.Value{}, others: map[string]map[Use]bool{}, printed: map[string]map[Use]bool{},
		uses: &Uses{Constants: map[string][]ast.Value{}, Prefixes: map[string][]string{}},
	}
	rules := branches(reachable(c, entry))
	for f.changed = true; f.changed && f.err == nil; {
		f.changed = false
		for _, rule := range rules {
			f.visit(rule)
		}
	}
	for path, of := range f.constants {
		f.uses.Constants[path] = slices.SortedFunc(maps.Values(of), func(a, b ast.Value) int { return a.Compare(b) })
	}
	if answers := c.GetRulesExact(ast.MustParseRef(entry)); len(answers) > 0 {
		f.at = answers[0].Location
		for path := range f.head(entry).texts() {
			note(f.printed, path, Use{f.at, "a part of the answer"})
		}
	}
	f.uses.Others, f.uses.Printed = inOrder(f.others), inOrder(f.printed)
	return f.uses, f.err
}

// note takes down a use.
func note(in map[string]map[Use]bool, path string, of Use) {
	if in[path] == nil {
		in[path] = map[Use]bool{}
	}
	in[path][of] = true
}

func inOrder(uses map[string]map[Use]bool) map[string][]Use {
	out := map[string][]Use{}
	for path, of := range uses {
		out[path] = slices.SortedFunc(maps.Keys(of), func(a, b Use) int {
			return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Why, b.Why))
		})
	}
	return out
}

// branches returns rules and their else branches, each once.
func branches(rules []*ast.Rule) (out []*ast.Rule) {
	seen := map[*ast.Rule]bool{}
	for _, rule := range rules {
		for r := rule; r != nil; r = r.Else {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// follower goes through rules until nothing is new.
type follower struct {
	compiler  *ast.Compiler
	read      Documents
	uses      *Uses
	constants map[string]map[string]ast.Value
	others    map[string]map[Use]bool
	printed   map[string]map[Use]bool
	heads     map[string]*flow   // by the name of the rule
	params    map[string][]*flow // of functions
	vars      map[*ast.Rule]map[ast.Var]*flow
	rule      *ast.Rule
	at        *ast.Location
	bound     map[ast.Var]bool
	changed   bool
	err       error
}

// other takes down a use that is not followed.
func (f *follower) other(path, why string) {
	switch path {
	case index:
		path, why = here, "the place of an assignment in the list counts"
	case serviceWord:
		path = "principal.scopes"
	}
	note(f.others, path, Use{f.at, why})
}

// compare takes down that two values are compared.
func (f *follower) compare(a, b *flow) {
	if a.items != nil && len(a.items) == len(b.items) {
		for i := range a.items {
			f.compare(a.items[i], b.items[i])
		}
		return
	}
	a, b = a.all(), b.all()
	f.against(a, b)
	f.against(b, a)
}

// against takes down what one of two values that are compared is, where the other one is known.
func (f *follower) against(a, b *flow) {
	scalars := b.scalars()
	for path := range a.labels {
		for _, value := range scalars {
			f.constant(path, value)
		}
		for other := range b.labels {
			if !related(path, other) {
				f.other(path, "compared with "+other)
			}
		}
		if b.unknown || len(b.made) > 0 || len(b.counted) > 0 {
			f.other(path, "compared with what a built-in makes")
		}
	}
	for path := range a.made {
		if len(scalars)+len(b.labels)+len(b.made) > 0 || b.unknown {
			f.other(path, "compared after a built-in has made another text of it")
		}
	}
	for path := range a.counted {
		for _, value := range scalars {
			if n, isNumber := value.(ast.Number); isNumber && n.Compare(ast.Number("0")) != 0 {
				f.other(path, "counted, and the number compared with another than 0")
			}
		}
		if b.unknown || len(b.labels)+len(b.counted) > 0 {
			f.other(path, "counted, and the number compared with one that is not constant")
		}
	}
}

// related says whether two values that are no constants may be compared: a text with itself, the patterns of an action and
// permissions, and the word of a route's access for a service's scope.
func related(a, b string) bool {
	if a == b {
		return !slices.Contains([]string{here, index, HereRole, Segment, serviceWord, "principal.scopes", "route.access"}, a)
	}
	permissions := []string{"action.id", "action.patterns", HerePermissions, "grant.permissions"}
	if slices.Contains(permissions, a) {
		return slices.Contains(permissions, b)
	}
	return a == serviceWord && b == "route.access" || b == serviceWord && a == "route.access"
}

func (f *follower) constant(path string, value ast.Value) {
	if path == serviceWord { // what follows "service:"
		text, _ := value.(ast.String)
		scope, isWord := strings.CutPrefix(string(text), "service:")
		if !isWord {
			return
		}
		path, value = "principal.scopes", ast.String(scope)
	}
	if path == here || path == index {
		f.other(path, "compared whole")
		return
	}
	if f.constants[path] == nil {
		f.constants[path] = map[string]ast.Value{}
	}
	f.constants[path][value.String()] = value
}
