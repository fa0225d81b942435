package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// ErrMasked means that the tree reads a masked part of a question.
var ErrMasked = errors.New("masked, and the tree reads it")

// errOlderForm means that an older release with another input has recorded it.
var errOlderForm = errors.New("recorded in an older form")

// errNoRule means that the tree has no rule, app or route for the question.
var errNoRule = errors.New("the tree does not have")

// Rejudge judges recorded verdicts anew by one tree, without a cache of verdicts. It is for one goroutine.
type Rejudge struct {
	set  *Set
	rows map[string]*resources.Route
	// limit bounds one evaluation.
	limit time.Duration
}

// NewRejudge returns a judge by the tree.
func NewRejudge(set *Set, limit time.Duration) *Rejudge {
	r := &Rejudge{set, map[string]*resources.Route{}, limit}
	for _, row := range set.Routes() {
		r.rows[row.Name] = &row
	}
	return r
}

// Masked is a recorded question with masked parts.
type Masked struct {
	Path string
	At   resources.Time
	// Input is what is left of the input, nil for nothing.
	Input []byte
	// Parts are what the mask has taken away or replaced of the input, each by the names that lead to it.
	Parts [][]string
}

// Recorded is a recorded question with its input for a tree.
type Recorded struct {
	// Path is what was asked.
	Path  string
	query *query
	app   *app // nil but for a question to an app
	input *ast.Term
	now   resources.Time
	// masked are the parts of the input that a mask has left out, as paths.
	masked []string
}

// Rule names the rule that is asked.
func (q *Recorded) Rule() string { return q.query.name }

// JSON returns the input.
func (q *Recorded) JSON() ([]byte, error) { return appendJSON(nil, q.input.Value, maxInput) }

// maxInput bounds an input in bytes.
const maxInput = 64 << 20

// Whole returns the question of a judgement. A call is asked about as the tree's own row of that name says.
func (r *Rejudge) Whole(j *resources.Judgement) (*Recorded, error) {
	q, err := r.asked(j.Path)
	if err != nil {
		return nil, err
	}
	if j.Path == resources.PathAccess {
		name := ""
		if recorded := j.Question.Route; recorded != nil {
			name = recorded.Name
		}
		row, err := r.row(name)
		if err != nil {
			return nil, err
		}
		if row != nil {
			copied := *j
			copied.Question.Route = row
			copied.Question.Action, _ = resources.ParseAction(row.Action) // "" is none
			j = &copied
		}
	}
	q.now = j.Question.Now
	q.input, err = inputOf(j)
	return q, err
}

// Masked returns a question with masked parts. The error names a masked part that the tree reads.
func (r *Rejudge) Masked(m *Masked) (*Recorded, error) {
	q, err := r.asked(m.Path)
	if err != nil {
		return nil, err
	}
	parts := dotted(m.Parts)
	if m.Input == nil {
		return nil, fmt.Errorf("%w: input", ErrMasked)
	}
	value, err := ast.ValueFromReader(bytes.NewReader(m.Input))
	if err != nil {
		return nil, err
	}
	q.input, q.now = ast.NewTerm(value), m.At
	reads := q.query.reads
	switch {
	case q.query.name == EntryDecision && r.set.Strict():
		reads = append(reads[:len(reads):len(reads)], "action.id")
	case q.query.name == EntryAccess:
		if err := noneRead([]string{"route.name"}, parts); err != nil {
			return nil, err
		}
		row, err := r.row(named(value, "route", "name"))
		if err != nil {
			return nil, err
		}
		if row != nil {
			q.onRow(row)
			parts = slices.DeleteFunc(parts, func(part string) bool { return question.PartOf(part, "route") || question.PartOf(part, "action") })
		}
	}
	q.masked = parts
	if err := noneRead(reads, parts); err != nil {
		return nil, err
	}
	if q.app == nil && named(value, "target", "level") == "" {
		return nil, errOlderForm
	}
	return q, nil
}

// Judge returns the tree's decision. The error tells why there is none.
func (r *Rejudge) Judge(ctx context.Context, q *Recorded) (d resources.AppDecision, err error) {
	if q.query.name == EntryDecision {
		action, _ := resources.ParseAction(named(q.input.Value, "action", "id"))
		if denied, unlisted := r.set.Unlisted(action); unlisted {
			return resources.AppDecision{Decision: denied}, nil
		}
	}
	value, err := Rule{r.set, q.query}.Value(ctx, q.input, q.now, r.limit)
	switch {
	case err != nil:
		return d, err
	case q.app != nil:
		return r.set.readApp(q.app, value)
	case value == nil:
		return d, &failed{FailureUndefined, fmt.Errorf("%s is undefined", q.query.name)}
	}
	if d.Decision, err = r.set.Read(q.query.name, ast.NewTerm(value)); err != nil {
		return d, err
	}
	d.Reason = question.Fill(d.Reason, func(path string) string {
		if err == nil {
			err = noneRead([]string{path}, q.masked)
		}
		member, name, _ := strings.Cut(path, ".")
		return named(q.input.Value, member, name)
	})
	return d, err
}

// asked finds the rule that answers at a path.
func (r *Rejudge) asked(path string) (*Recorded, error) {
	entry, isEntry := map[string]string{
		resources.PathDecision: EntryDecision, resources.PathAccess: EntryAccess, resources.PathGrantable: EntryGrantable,
	}[path]
	if isEntry {
		return &Recorded{Path: path, query: r.set.queries[entry]}, nil
	}
	name, isApp := strings.CutPrefix(strings.TrimSuffix(path, "/decision"), resources.PathApps)
	if a := r.set.apps.named(name); isApp && a != nil {
		return &Recorded{Path: path, query: a.query, app: a}, nil
	}
	return nil, fmt.Errorf("%w: %s", errNoRule, path)
}

// row returns the tree's row for a call, nil for a call that a proxy names.
func (r *Rejudge) row(name string) (*resources.Route, error) {
	if name == resources.RouteNamed {
		return nil, nil
	}
	row := r.rows[name]
	if row == nil {
		return nil, fmt.Errorf("%w: route %s", errNoRule, name)
	}
	return row, nil
}

// onRow puts a row into the question.
func (q *Recorded) onRow(row *resources.Route) {
	action, _ := resources.ParseAction(row.Action) // "" is none
	input := InputOf(&resources.Question{Route: row, Action: action}).Value.(ast.Object)
	items := [][2]*ast.Term{field("route", input.Get(ast.InternedTerm("route"))), field("action", input.Get(ast.InternedTerm("action")))}
	if old, ok := q.input.Value.(ast.Object); ok {
		old.Foreach(func(key, value *ast.Term) {
			if name, _ := key.Value.(ast.String); name != "route" && name != "action" {
				items = append(items, [2]*ast.Term{key, value})
			}
		})
	}
	q.input = ast.ObjectTerm(items...)
}

// dotted returns the parts as paths. A part below a name that has a dot counts as what is above it, as it does for what
// rules read.
func dotted(parts [][]string) []string {
	out := make([]string, len(parts))
	for i, names := range parts {
		if dot := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, ".") }); dot >= 0 {
			names = names[:dot]
		}
		out[i] = strings.Join(names, ".")
	}
	return out
}

// noneRead returns ErrMasked where one of the paths reads one of the parts.
func noneRead(paths, parts []string) error {
	for _, part := range parts {
		for _, path := range paths {
			if question.PartOf(path, part) || question.PartOf(part, path) {
				return fmt.Errorf("%w: %s", ErrMasked, strings.TrimSuffix("input."+path, "."))
			}
		}
	}
	return nil
}

// named returns the text at a name below a member of the input, "" for none.
func named(input ast.Value, member, name string) string {
	value, err := input.Find(ast.Ref{ast.StringTerm(member), ast.StringTerm(name)})
	if err != nil {
		return ""
	}
	text, _ := value.(ast.String)
	return string(text)
}
