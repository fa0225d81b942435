package gateway

import (
	"cmp"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// assertionRoom is how many bytes an assertion and its headers add to the head that a gateway took.
const assertionRoom = 16 << 10

// Area is an area of resources as a process serves it to gateways.
type Area struct {
	Routes wire.Routes
	peer.Projects
}

// NewInner makes the edge of a process behind gateways. It serves the catalogue's rows of the areas,
// and takes nobody's word but a gateway's. Of the config it needs Catalogue, Assertions, Limits, IDs,
// Now and Log.
func NewInner(cfg Config, areas map[string]Area) (*Edge, error) {
	cfg.Handlers = map[string]wire.Routes{}
	cfg.Limits.Header += assertionRoom // what the gateway lets in comes with its word
	var closing []resources.Route
	for name, area := range areas {
		rows, handlers := peer.ClosingRoutes(name, area)
		closing = append(closing, rows...)
		maps.Copy(handlers, area.Routes)
		cfg.Handlers[name] = handlers
	}
	e := newBounded(cfg)
	e.rows = func(all []resources.Route) []resources.Route {
		rows := slices.DeleteFunc(slices.Clone(all), func(r resources.Route) bool { return cfg.Handlers[r.Upstream] == nil })
		return append(rows, closing...)
	}
	e.steps = []step{e.frame, e.findServed, e.readBody, e.admit, e.accept, e.checkMediaType, e.answer}
	e.waiting.inFront = true
	return e.start()
}

// findServed looks up the route. A call without one is of a gateway with another catalogue: its client must not take a 404
// for a thing that is gone.
func (e *Edge) findServed(x *exchange) error {
	err := e.find(x)
	if err != nil {
		x.raw.Response.Header.Set(peer.RefusedHeader, "1")
	}
	return err
}

// accept takes a gateway's word for who calls: 401 without one.
func (e *Edge) accept(x *exchange) error {
	said, err := peer.Accept(e.cfg.Assertions, sent(&x.raw.Request.Header, assertion.Header), assertion.Statement{
		Upstream: cmp.Or(x.entry.Route.Audience, x.entry.Route.Upstream), RequestID: x.record.RequestID, Method: x.method,
		Target: string(x.raw.Request.Header.RequestURI()), IdempotencyKey: x.idempotencyKey(), Body: x.body,
	}, x.entry.Route.Action)
	if err != nil {
		x.raw.Response.Header.Set(peer.RefusedHeader, "1")
		return err
	}
	if problems := x.match.Problems(x.match.Values); len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	x.principal, x.account = said.Principal, said.Account
	x.lifetime.useTurnsOf(cmp.Or(turnsOf(&x.principal), x.account))
	x.record.Principal, x.record.KeyID, x.record.Account, x.record.Action = said.Principal.ID, said.Principal.KeyID, said.Account, said.Action
	x.record.Allowed, x.record.Reason = true, "a gateway allowed it"
	return x.share()
}
