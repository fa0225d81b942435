package diff

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Report is what a change changes.
type Report struct {
	Old string `json:"old"`
	New string `json:"new"`
	// NewAccess and LostAccess are the questions that one tree allows and the other denies. Reasons are those that both allow
	// or both deny, by another code or reason.
	NewAccess  []compare.Row `json:"new_access"`
	LostAccess []compare.Row `json:"lost_access"`
	Reasons    []compare.Row `json:"reasons"`
	Routes     []Field       `json:"routes"`
	// Unreachable are differences that only an impossible input shows.
	Unreachable   []compare.Row `json:"unreachable"`
	NotExhaustive []compare.Gap `json:"not_exhaustive"`
	// Unasked says that an entry point was not compared; NotExhaustive says why.
	Unasked   bool `json:"-"`
	Questions int  `json:"questions"`
	// People are the real users whom the change concerns; nil if none were read.
	People *people.Report `json:"people,omitempty"`
}

// Turning returns the rows in which access changes.
func (r *Report) Turning() []compare.Row { return slices.Concat(r.NewAccess, r.LostAccess) }

// Field is a field of a route that no rule reads, a field of an MCP server or of one of its rows, or a rule over the
// arguments of its tools. A value is empty if the tree does not have it.
type Field struct {
	// Route is the row's name; mcp/<server> and mcp/<server>/tools/<tool> are those of a server.
	Route string `json:"route"`
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Compare compares two trees, at so many entry points at once.
func Compare(ctx context.Context, old, next *engine.Set, atOnce int) (*Report, error) {
	r := &Report{
		Old: old.Revision(), New: next.Revision(), NewAccess: []compare.Row{}, LostAccess: []compare.Row{}, Reasons: []compare.Row{},
		Routes: append([]Field{}, changed(routeFields(old), routeFields(next))...), Unreachable: []compare.Row{}, NotExhaustive: []compare.Gap{},
	}
	rules, err := compare.ArgumentRules(ctx, old, next)
	if err != nil {
		return nil, err
	}
	r.Routes = append(append(r.Routes, changed(serverFields(old), serverFields(next))...), argumentRules(rules)...)
	difference, err := compare.Compare(ctx, old, next, atOnce)
	if err != nil {
		return nil, err
	}
	for _, row := range difference.Rows {
		switch {
		case row.New.Allow && !row.Old.Allow:
			r.NewAccess = append(r.NewAccess, row)
		case row.Old.Allow && !row.New.Allow:
			r.LostAccess = append(r.LostAccess, row)
		default:
			r.Reasons = append(r.Reasons, row)
		}
	}
	r.Unreachable = append(r.Unreachable, difference.Unreachable...)
	r.NotExhaustive = append(r.NotExhaustive, difference.Gaps...)
	r.Unasked = difference.Unasked
	r.Questions = difference.Questions
	return r, nil
}

// Differs says whether the trees differ in an answer or a route, or were not compared in full.
func (r *Report) Differs() bool {
	return len(r.NewAccess)+len(r.LostAccess)+len(r.Reasons)+len(r.Routes)+len(r.NotExhaustive) > 0
}

// rowFields are fields of a tree's rows, by the name of the row and of the field. A missing field counts as empty.
type rowFields map[[2]string]string

func (f rowFields) add(row string, fields map[string]string) {
	for name, value := range fields {
		f[[2]string{row, name}] = value
	}
}

// changed returns the fields that differ, in order of the rows' names.
func changed(before, after rowFields) (out []Field) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if before[key] != after[key] {
			out = append(out, Field{Route: key[0], Field: key[1], Old: before[key], New: after[key]})
		}
	}
	return out
}

// routeFields returns the fields of a tree's routes that no rule reads.
func routeFields(set *engine.Set) rowFields {
	out := rowFields{}
	for _, r := range set.Routes() {
		out.add(r.Name, map[string]string{
			"spec": r.Spec, "method": r.Method, "host": r.Host, "path": r.Path, "place.account": r.Place.Account, "place.project": r.Place.Project,
			"mcp.method": r.MCP.Method, "mcp.name": r.MCP.Name, "claims": truth(r.Claims), "audience": r.Audience, "area": r.Area, "upstream": r.Upstream,
		})
	}
	return out
}

// Kinds of difference on which a command can fail.
const (
	FailOnAny       = "any"
	FailOnNewAccess = "new-access"
)

// ErrFailOn means that a kind of difference has another name.
var ErrFailOn = errors.New("must be new-access or any")

// Fails says whether the report has a difference of the kind. What was not compared may be new access.
func (r *Report) Fails(kind string) bool {
	if kind == FailOnNewAccess {
		return len(r.NewAccess)+len(r.NotExhaustive) > 0
	}
	return r.Differs()
}
