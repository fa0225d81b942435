package gateway

import (
	"errors"
	"fmt"
	"sort"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// UpstreamAuthorize is the name under which the catalogue sends E3 to the gateway itself.
const UpstreamAuthorize = "authorize"

var (
	errNoHandler  = errors.New("no handler in this process has that name")
	errNoUpstream = errors.New("its upstream is neither in this process nor given with --upstream")
)

// server is everything that can serve a route.
type server struct {
	handlers  map[string]wire.Routes
	upstreams map[string]*proxy
}

func newServer(cfg Config) server {
	s := server{handlers: cfg.Handlers, upstreams: map[string]*proxy{}}
	for name, base := range cfg.Upstreams {
		s.upstreams[name] = newProxy(name, base, cfg.Limits, cfg.Assertions)
	}
	return s
}

// bind finds who serves the row; an upstream that was given takes over from handlers
// of the same name.
func (s server) bind(r resources.Route) (*entry, error) {
	e := &entry{Route: r}
	for _, way := range r.Access {
		e.public = e.public || way == "public"
	}
	if r.Action != "" {
		action, err := resources.ParseAction(r.Action)
		if err != nil {
			return nil, fmt.Errorf("action %w", err)
		}
		e.action = action
	}
	if r.Upstream == UpstreamAuthorize {
		e.answers = true
		return e, nil
	}
	if e.proxy = s.upstreams[r.Upstream]; e.proxy != nil {
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
