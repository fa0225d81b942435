package catalogue

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Index finds the rows of one catalogue. Nothing changes it once it is made; nil has no rows.
type Index struct {
	rows []*route.Row
	// served has the rows that the gateway serves itself. all has every row; of rows for different messages of MCP it has
	// the first one, by which messages has all of them.
	served, all route.Table
	messages    map[*route.Row]map[resources.RouteMCP]*route.Row
}

// Call is a call to look up. An unknown part is empty.
type Call struct {
	// Host is a host's name, as route.ParseHost gives it.
	Host   string
	Method string
	// Path is the raw path, without the query.
	Path string
	// MCP reads the call's MCP headers, for rows with mcp alone. nil has none.
	MCP interface{ MCPHeaders() MCPHeaders }
}

// New makes the index of a catalogue. The error lists every row that no call could have, and every two rows with one method,
// host and path.
func New(routes []resources.Route) (*Index, error) {
	x := &Index{}
	var problems []error
	for _, r := range routes {
		if err := x.insert(r); err != nil {
			problems = append(problems, Problem(r, err))
		}
	}
	return x, errors.Join(problems...)
}

// Problem says what is wrong with which row.
func Problem(r resources.Route, err error) error {
	return fmt.Errorf("route %s (%s %s%s): %w", r.Name, r.Method, r.Host, r.Path, err)
}

func (x *Index) insert(r resources.Route) error {
	row, err := route.NewRow(r)
	if err != nil {
		return err
	}
	row.Number = len(x.rows)
	if err := x.claim(row, x.all.Insert(row)); err != nil {
		return err
	}
	x.rows = append(x.rows, row)
	if r.Upstream != resources.UpstreamExternal {
		x.served.Insert(row)
	}
	return nil
}

// Rows returns all rows by number. They are not to be changed.
func (x *Index) Rows() []*route.Row { return x.rows }

// Named returns the row of that name, nil for none.
func (x *Index) Named(name string) *route.Row {
	for _, row := range x.rows {
		if row.Route.Name == name {
			return row
		}
	}
	return nil
}

// ByHost reports whether the gateway serves rows of one host, so that Served has to know the host.
func (x *Index) ByHost() bool { return x.served.ByHost() }

// Served looks a call up among the rows the gateway serves itself (route.Table.Find).
func (x *Index) Served(host, method, path string, room []string) route.Match {
	return x.served.Find(host, method, path, room)
}

// Hidden returns the hosts with rows of their own in the gateway, and the names of its own public rows. It does not serve
// these rows on these hosts. Both are sorted.
func (x *Index) Hidden() (hosts, rows []string) {
	for _, row := range x.rows {
		switch {
		case row.Route.Upstream == resources.UpstreamExternal:
		case row.Route.Host != "":
			hosts = append(hosts, strings.ToLower(row.Route.Host))
		case row.Own():
			rows = append(rows, row.Route.Name)
		}
	}
	slices.Sort(hosts)
	slices.Sort(rows)
	return slices.Compact(hosts), rows
}

// Find returns the row of a call with its place. Errors are *resources.Error: KindBadRequest with all problems of a call
// that is not HTTP, KindNotFound without a row, and KindBadRequest with all problems of the path.
func (x *Index) Find(c Call) (route.Match, error) {
	if problems := c.problems(); len(problems) > 0 {
		return route.Match{}, resources.BadRequest(problems...)
	}
	m, err := x.find(c)
	if err != nil {
		return route.Match{}, err
	}
	var problems []resources.Problem
	if m.Place, problems = m.Read(c.Path, m.Values); len(problems) > 0 {
		return route.Match{}, resources.BadRequest(problems...)
	}
	return m, nil
}

// Unlisted returns a row for a call whose action a proxy's configuration names. No row of the catalogue is looked for.
// Errors are those of Find.
func (c Call) Unlisted(action resources.Action) (route.Match, error) {
	problems, path := c.problems(), strings.TrimPrefix(c.Path, "/")
	for _, text := range route.PathProblems(path) {
		problems = append(problems, resources.Problem{Field: "path", Text: text})
	}
	if len(problems) > 0 {
		return route.Match{}, resources.BadRequest(problems...)
	}
	place, problem := route.ParseTarget(path)
	if problem != "" {
		return route.Match{}, resources.BadRequest(resources.Problem{Field: "path", Text: problem})
	}
	return route.Match{Place: place, Row: &route.Row{Action: action, Route: resources.Route{
		Name: resources.RouteNamed, Method: c.Method, Path: c.Path, Action: action.ID, Upstream: resources.UpstreamExternal,
	}}}, nil
}

// Public reports whether a row is for the call that is open to callers without a credential.
func (x *Index) Public(c Call) bool {
	m, err := x.find(c)
	if err != nil || !m.Public {
		return false
	}
	_, problems := m.Read(c.Path, m.Values)
	return len(problems) == 0
}

// AnyMethod reports whether a row for any method is for the path.
func (x *Index) AnyMethod(c Call) bool {
	c.Method = unnamed
	_, err := x.find(c)
	return err == nil
}

// unnamed is a method that no row names.
const unnamed = "UNNAMED"

func noRow() error {
	return &resources.Error{Kind: resources.KindNotFound, Message: "No route of the catalogue is for this call."}
}

// find looks up a call, and reads no place. The error is KindNotFound without a row, or KindBadRequest for malformed MCP
// headers.
func (x *Index) find(c Call) (m route.Match, err error) {
	if x == nil {
		return m, noRow()
	}
	if c.Method == http.MethodHead {
		c.Method = http.MethodGet
	}
	m = x.all.Find(c.Host, c.Method, c.Path, nil)
	switch {
	case m.Row == nil:
		return m, noRow()
	case m.Route.MCP.Named():
		var h MCPHeaders
		if c.MCP != nil {
			h = c.MCP.MCPHeaders()
		}
		m.Row, err = h.row(x.messages[m.Row])
	}
	return m, err
}

// problems returns what no row can be looked up by.
func (c Call) problems() (out []resources.Problem) {
	if !route.ValidMethod(c.Method) {
		out = append(out, resources.Problem{Field: "method", Text: "must be an HTTP method in capital letters"})
	}
	if !strings.HasPrefix(c.Path, "/") {
		out = append(out, resources.Problem{Field: "path", Text: "must begin with /"})
	}
	return out
}
