package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// entry is a row that is ready to be served.
type entry struct {
	*route.Row
	// One of the four serves it.
	door     doors.Door
	asked    doors.SubRequest
	handler  wire.Handler
	upstream *upstream
	// anyRequestID says that the door takes any request id.
	anyRequestID bool
	// protected is the door if its calls need a token for their resource, else nil.
	protected doors.Protected
}

// routeTable is a catalogue with what serves its rows.
type routeTable struct {
	*catalogue.Index
	// revision names the catalogue's tree.
	revision string
	// entries are those of the rows by their numbers. One that is judged for a proxy alone has none.
	entries []*entry
}

// newTable binds every row of the catalogue to its server. The error lists every row without a server,
// every handler without a row, and what else is wrong with the rows.
func (e *Edge) newTable(revision string, routes []resources.Route) (*routeTable, error) {
	index, err := catalogue.New(routes)
	t := &routeTable{Index: index, revision: revision, entries: make([]*entry, len(index.Rows()))}
	problems := []error{err}
	for _, row := range index.Rows() {
		if row.Route.Upstream == resources.UpstreamExternal {
			continue
		}
		if t.entries[row.Number], err = e.bind(row); err != nil {
			problems = append(problems, catalogue.Problem(row.Route, err))
		}
	}
	if unbound := e.unbound(routes); len(unbound) > 0 {
		problems = append(append(problems, unbound...), errAddRows)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("the catalogue and the handlers do not fit: %w", err)
	}
	return t, nil
}

var (
	errNoDoor         = errors.New("the gateway has no door of that name")
	errPublicResource = errors.New("its door needs a token, so it can't have the access public")
	errNoHandler      = errors.New("no handler in this process has that name")
	errAddRows        = errors.New("take the rows that a catalogue of one's own lacks from the tree that `portcullis policy base OUT` writes")
	errNoUpstream     = errors.New("its upstream is neither in this process nor given with --upstream")
)

// bind finds the server of a row. A configured upstream goes before handlers of the same name.
func (e *Edge) bind(row *route.Row) (*entry, error) {
	r, bound := &row.Route, &entry{Row: row}
	if r.Upstream == resources.UpstreamAuthorize {
		bound.door, bound.asked = e.cfg.Doors[r.Name], e.cfg.SubRequests[r.Name]
		if bound.door == nil && bound.asked == nil {
			return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoDoor)
		}
		_, bound.anyRequestID = bound.door.(doors.AnyRequestID)
		if bound.protected, _ = bound.door.(doors.Protected); bound.protected != nil && row.Public {
			return nil, errPublicResource
		}
		return bound, nil
	}
	if bound.upstream = e.upstreams[r.Upstream]; bound.upstream != nil {
		return bound, nil
	}
	handlers, ok := e.cfg.Handlers[r.Upstream]
	if !ok {
		return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoUpstream)
	}
	if bound.handler = handlers[r.Name]; bound.handler == nil {
		return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoHandler)
	}
	return bound, nil
}

// unbound lists the handlers that no row of the catalogue names.
func (e *Edge) unbound(routes []resources.Route) (problems []error) {
	used := map[string]bool{}
	for _, r := range routes {
		used[r.Upstream+"\x00"+r.Name] = true
	}
	for upstream, handlers := range e.cfg.Handlers {
		for name := range handlers {
			if e.upstreams[upstream] == nil && !used[upstream+"\x00"+name] {
				problems = append(problems, fmt.Errorf("handler %s of %s has no row in the catalogue", name, upstream))
			}
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return problems
}
