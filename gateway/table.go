package gateway

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// paramAccount is the path parameter with which an account header is compared.
const paramAccount = "accountId"

// entry is a route that is ready to be served.
type entry struct {
	verdict.Route
	path route.Row
	// One of the three serves it.
	door doors.Door
	// asked is the door, where it is one that is asked about other calls; else nil.
	asked doors.SubRequest
	// anyRequestID says that the door takes any request id.
	anyRequestID bool
	handler      wire.Handler
	upstream     *upstream
}

// table finds entries by method and raw path.
type table = route.Table[entry]

// newTable binds every row of the catalogue to its server. The error lists every row without a server,
// every handler without a row, and every two rows for one method, host and path.
func newTable(routes []resources.Route, serve server) (*table, error) {
	t := &table{}
	var problems []string
	used := map[string]bool{}
	for _, r := range routes {
		if r.Upstream == resources.UpstreamExternal {
			continue // it is judged for a proxy, and is no route of the edge
		}
		e, err := serve.bind(r)
		if err == nil {
			err = insert(t, e)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("route %s (%s %s%s): %v", r.Name, r.Method, r.Host, r.Path, err))
		}
		used[r.Upstream+"\x00"+r.Name] = true
	}
	problems = append(problems, serve.unbound(used)...)
	if len(problems) > 0 {
		sort.Strings(problems)
		return nil, fmt.Errorf("the catalogue and the handlers do not fit: %s", strings.Join(problems, "; "))
	}
	return t, nil
}

// insert adds an entry under its method and path.
func insert(t *table, e *entry) (err error) {
	if e.path, err = route.ReadRow(e.Row); err != nil {
		return err
	}
	if e.Row.Claims && !slices.Contains(e.path.Params, paramAccount) {
		return fmt.Errorf("claims are held against the path's {%s}, and it has none", paramAccount)
	}
	if other := t.Insert(route.KeyOf(e.Row), e.path.Pattern, e); other != nil {
		return fmt.Errorf("has the method, host and path of route %s", other.Row.Name)
	}
	return nil
}

var (
	errNoDoor     = errors.New("the gateway has no door of that name")
	errNoHandler  = errors.New("no handler in this process has that name")
	errNoUpstream = errors.New("its upstream is neither in this process nor given with --upstream")
)

// server is all that can serve a route.
type server struct {
	doors     map[string]doors.Door
	handlers  map[string]wire.Routes
	upstreams map[string]*upstream
}

func newServer(cfg Config) server {
	s := server{doors: cfg.Doors, handlers: cfg.Handlers, upstreams: map[string]*upstream{}}
	for name, base := range cfg.Upstreams {
		s.upstreams[name] = newUpstream(name, base, cfg.Limits, cfg.Assertions)
	}
	return s
}

// bind finds the server of a row. A configured upstream goes before handlers of the same name.
func (s server) bind(r resources.Route) (*entry, error) {
	of, err := verdict.NewRoute(r)
	if err != nil {
		return nil, err
	}
	e := &entry{Route: of}
	if r.Upstream == resources.UpstreamAuthorize {
		if e.door = s.doors[r.Name]; e.door == nil {
			return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoDoor)
		}
		e.asked, _ = e.door.(doors.SubRequest)
		_, e.anyRequestID = e.door.(doors.AnyRequestID)
		return e, nil
	}
	if e.upstream = s.upstreams[r.Upstream]; e.upstream != nil {
		return e, nil
	}
	handlers, ok := s.handlers[r.Upstream]
	if !ok {
		return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoUpstream)
	}
	if e.handler = handlers[r.Name]; e.handler == nil {
		return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoHandler)
	}
	return e, nil
}

// unbound lists the handlers that no row of the catalogue names.
func (s server) unbound(used map[string]bool) []string {
	var out []string
	for upstream, handlers := range s.handlers {
		for name := range handlers {
			if s.upstreams[upstream] == nil && !used[upstream+"\x00"+name] {
				out = append(out, fmt.Sprintf("handler %s of %s has no row in the catalogue", name, upstream))
			}
		}
	}
	sort.Strings(out)
	return out
}
