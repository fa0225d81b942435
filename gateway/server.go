package gateway

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// UpstreamAuthorize is the name under which the catalogue sends calls to the gateway's own doors.
const UpstreamAuthorize = "authorize"

var (
	errNoDoor     = errors.New("the gateway has no door of that name")
	errNoHandler  = errors.New("no handler in this process has that name")
	errNoUpstream = errors.New("its upstream is neither in this process nor given with --upstream")
)

// server is everything that can serve a route.
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

// bind finds who serves the row; an upstream that was given takes over from handlers
// of the same name.
func (s server) bind(r resources.Route) (*entry, error) {
	e := &entry{Route: verdict.Route{Row: r, Public: slices.Contains(r.Access, "public")}}
	if r.Action != "" {
		action, err := resources.ParseAction(r.Action)
		if err != nil {
			return nil, fmt.Errorf("action %w", err)
		}
		e.Action = action
	}
	if r.Upstream == UpstreamAuthorize {
		if e.door = s.doors[r.Name]; e.door == nil {
			return nil, fmt.Errorf("upstream %q: %w", r.Upstream, errNoDoor)
		}
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
