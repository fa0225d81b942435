package route

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Row is a row of the catalogue with its path and action parsed. Nothing changes it.
type Row struct {
	Route resources.Route
	// Params are the names of the path's parameters; Forms the id prefixes that their values must have, "" for any plain
	// identifier. The rest of a path is the last value and has no name.
	Params, Forms []string
	// Action is the zero value for a row without one.
	Action resources.Action
	// Public rows are open to callers without a credential.
	Public bool
	// Number is the row's place among those of its index.
	Number int
	// slash says that the path ends with a /, as no other path may.
	slash bool
	// stated is the row's own position of its place; nil is E3's.
	stated *stated
}

// ParamAccount is the parameter that claims are compared with.
const ParamAccount = "accountId"

var (
	errSlash    = errors.New("the path must not end with /; only a row with a host may")
	errNoClaims = errors.New("claims are not compared for a proxy's calls: leave them out, or name an upstream of the gateway")
)

// NewRow parses a row. The error says why no call of it could be judged.
func NewRow(r resources.Route) (*Row, error) {
	row := &Row{Route: r, Public: slices.Contains(r.Access, "public"), slash: strings.HasSuffix(r.Path, "/")}
	var err error
	if r.Action != "" {
		if row.Action, err = resources.ParseAction(r.Action); err != nil {
			return nil, fmt.Errorf("action %w", err)
		}
	}
	if problem := r.MCPProblem(); problem != "" {
		return nil, fmt.Errorf("mcp %s", problem)
	}
	if err = row.readParams(); err != nil {
		return nil, err
	}
	switch {
	case row.slash && r.Host == "":
		return nil, errSlash
	case r.Claims && r.Upstream == resources.UpstreamExternal:
		return nil, errNoClaims
	case r.Claims && !slices.Contains(row.Params, ParamAccount):
		return nil, fmt.Errorf("claims are held against the path's {%s}, and it has none", ParamAccount)
	}
	if r.Place != (resources.RoutePlace{}) {
		if row.stated, err = row.readPlace(); err != nil {
			return nil, err
		}
	}
	if err = row.check(); err != nil {
		return nil, err
	}
	return row, nil
}

// Own reports whether the row is the gateway's own and open to anybody: one of its specification or of a door, for every
// host. A host with rows of its own does not have it.
func (r *Row) Own() bool {
	return r.Public && r.Route.Host == "" && (r.Route.Spec != "" || r.Route.Upstream == resources.UpstreamAuthorize)
}

// Read returns the place of a path if it fits the row, or all problems of the path. The values are Find's.
func (r *Row) Read(path string, values []string) (resources.Target, []resources.Problem) {
	if path == "/" && r.Route.Path == path {
		return resources.Target{}, nil
	}
	path = strings.TrimPrefix(path, "/")
	if r.slash {
		path = strings.TrimSuffix(path, "/")
	}
	var problems []resources.Problem
	for _, text := range PathProblems(path) {
		problems = append(problems, resources.Problem{Field: fieldPath, Text: text})
	}
	if problems = append(problems, r.Problems(values)...); len(problems) > 0 {
		return resources.Target{}, problems
	}
	target, problem := r.target(path, values)
	if problem != "" {
		return resources.Target{}, []resources.Problem{{Field: fieldPath, Text: problem}}
	}
	return target, nil
}

// Question returns what policy is asked about a call of the row at this place. The account in question is the place's, else
// account. The user in question is the path's {userId}, else its {user_id}.
func (r *Row) Question(account string, place resources.Target, values []string) resources.Question {
	q := resources.Question{Action: r.Action, AccountID: cmp.Or(place.AccountID, account), Target: place, Route: &r.Route}
	if len(r.Params) > 0 {
		named := r.Named(values)
		q.Target.UserID = cmp.Or(named["userId"], named["user_id"])
	}
	if r.Action.Scope == resources.ScopeAccount {
		q.Target.ProjectID, q.Through = "", place.ProjectID
	}
	return q
}

// fieldPath is the field of problems of a whole path.
const fieldPath = "path"

// target reads the place from a path without problems. The collection of all accounts, which a row names as a whole,
// names no account.
func (r *Row) target(path string, values []string) (resources.Target, string) {
	if r.stated != nil {
		return r.stated.target(path, values)
	}
	if r.Route.Path == "/"+path && (path == wordAccounts || path == "api/v1/"+wordAccounts) {
		return resources.Target{Rest: wordAccounts}, ""
	}
	return ParseTarget(path)
}

// check reads a call of the row, with something in place of its parameters.
func (r *Row) check() error {
	call := r.sample()
	target, problems := r.Read(call.path, call.values)
	if len(problems) > 0 {
		texts := make([]string, len(problems))
		for i, p := range problems {
			texts[i] = p.String()
		}
		return fmt.Errorf("no call of this path could be judged: %s", strings.Join(texts, "; "))
	}
	for _, named := range [...]struct{ title, id, form string }{
		{"account", target.AccountID, resources.PrefixAccount}, {"project", target.ProjectID, resources.PrefixProject},
	} {
		index := slices.Index(call.values, named.id)
		switch {
		case named.id == "" || named.id == call.rest:
		case index < 0:
			return fmt.Errorf("the path names the %s %s; a parameter must stand there, as {%sId}", named.title, named.id, named.title)
		case r.Forms[index] != "" && r.Forms[index] != named.form:
			return fmt.Errorf("parameter %s names the %s, whose ids have the form %s-<id>-v1", r.Params[index], named.title, named.form)
		}
	}
	return nil
}

// sample is a call of a row.
type sample struct {
	path   string
	values []string
	// rest is what stands for the rest of the path.
	rest string
}

// sample returns a call of the row whose values stand nowhere else in its path.
func (r *Row) sample() (call sample) {
	word := "x"
	for strings.Contains(r.Route.Path, word) {
		word += "x"
	}
	call.rest = word + "rest"
	segments := strings.Split(r.Route.Path, "/")
	for i, segment := range segments {
		if segment == restParam || segment == proxyParam {
			segments[i] = call.rest
			break
		}
		if _, form, ok := param(segment); ok {
			segments[i] = fmt.Sprint(word, len(call.values))
			if form != "" {
				segments[i] = form + "-" + segments[i] + "-v1"
			}
			call.values = append(call.values, segments[i])
		}
	}
	call.path = strings.Join(segments, "/")
	return call
}
