package diff

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Report is what a change changes.
type Report struct {
	Old string `json:"old"`
	New string `json:"new"`
	// NewAccess and LostAccess are the questions whose answer turns, Reasons those that are told something else.
	NewAccess  []compare.Row `json:"new_access"`
	LostAccess []compare.Row `json:"lost_access"`
	Reasons    []compare.Row `json:"reasons"`
	Routes     []Field       `json:"routes"`
	// Unreachable are differences that no question shows which a caller can bring about.
	Unreachable   []compare.Row `json:"unreachable"`
	NotExhaustive []compare.Gap `json:"not_exhaustive"`
	// Unasked says that an entry point was not asked at all: NotExhaustive says why.
	Unasked   bool `json:"-"`
	Questions int  `json:"questions"`
	// People are the real users whom the change concerns; nil where none were looked at.
	People *people.Report `json:"people,omitempty"`
}

// Turning returns the rows in which access turns.
func (r *Report) Turning() []compare.Row { return slices.Concat(r.NewAccess, r.LostAccess) }

// Field is a field of a route that no rule reads, or a whole route; a value is empty where a tree has none.
type Field struct {
	Route string `json:"route"`
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Between compares two trees, at so many entry points at once.
func Between(ctx context.Context, old, fresh *engine.Set, atOnce int) (*Report, error) {
	r := &Report{
		Old: old.Revision(), New: fresh.Revision(), NewAccess: []compare.Row{}, LostAccess: []compare.Row{}, Reasons: []compare.Row{},
		Routes: routes(old.Routes(), fresh.Routes()), Unreachable: []compare.Row{}, NotExhaustive: []compare.Gap{},
	}
	found, err := compare.Compare(ctx, old, fresh, atOnce)
	if err != nil {
		return nil, err
	}
	for _, row := range found.Rows {
		switch {
		case row.New.Allow && !row.Old.Allow:
			r.NewAccess = append(r.NewAccess, row)
		case row.Old.Allow && !row.New.Allow:
			r.LostAccess = append(r.LostAccess, row)
		default:
			r.Reasons = append(r.Reasons, row)
		}
	}
	r.Unreachable = append(r.Unreachable, found.Unreachable...)
	r.NotExhaustive = append(r.NotExhaustive, found.Gaps...)
	r.Unasked = found.Unasked
	r.Questions = found.Questions
	return r, nil
}

// Differs says whether the trees answer anything differently, have other routes, or may answer differently what could
// not be asked.
func (r *Report) Differs() bool {
	return len(r.NewAccess)+len(r.LostAccess)+len(r.Reasons)+len(r.Routes)+len(r.NotExhaustive) > 0
}

// routes returns the fields in which the catalogues differ and that are no input of a rule.
func routes(old, fresh []resources.Route) []Field {
	out := []Field{}
	byName := map[string][2]*resources.Route{}
	for side, rows := range [2][]resources.Route{old, fresh} {
		for i := range rows {
			pair := byName[rows[i].Name]
			pair[side] = &rows[i]
			byName[rows[i].Name] = pair
		}
	}
	for name, pair := range byName {
		before, after := fields(pair[0]), fields(pair[1])
		for i, field := range before {
			if from, to := field[1], after[i][1]; from != to {
				out = append(out, Field{Route: name, Field: field[0], Old: from, New: to})
			}
		}
	}
	slices.SortFunc(out, func(a, b Field) int { return strings.Compare(a.Route+" "+a.Field, b.Route+" "+b.Field) })
	return out
}

// fields returns the names and values of the fields of a route that no rule reads. The values of no route are empty.
func fields(r *resources.Route) [][2]string {
	if r == nil {
		r = &resources.Route{}
	}
	claims := ""
	if r.Claims {
		claims = "true"
	}
	return [][2]string{
		{"spec", r.Spec},
		{"method", r.Method},
		{"host", r.Host},
		{"path", r.Path},
		{"place.account", r.Place.Account},
		{"place.project", r.Place.Project},
		{"claims", claims},
		{"audience", r.Audience},
		{"area", r.Area},
		{"upstream", r.Upstream},
	}
}

// Kinds of difference on which a command can be told to fail.
const (
	FailOnAny       = "any"
	FailOnNewAccess = "new-access"
)

// ErrFailOn means that a report can't be judged by that name.
var ErrFailOn = errors.New("must be new-access or any")

// Fails says whether the report has a difference of the kind. A question that could not be asked may be new access.
func (r *Report) Fails(on string) bool {
	if on == FailOnNewAccess {
		return len(r.NewAccess)+len(r.NotExhaustive) > 0
	}
	return r.Differs()
}
