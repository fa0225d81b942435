package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// Edge answers every public request. Several listeners may serve the same edge.
type Edge struct {
	cfg Config
	// upstreams are those of cfg, with the bound of each.
	upstreams map[string]*upstream
	// rows are those that this edge serves of a catalogue.
	rows   func([]resources.Route) []resources.Route
	routes atomic.Pointer[routeTable]
	app    *fiber.App
	// gate bounds the requests under way; open counts the connections.
	gate *gate.Gate
	open *listen.Bounds
	// leaving says that every answer ends its connection.
	leaving atomic.Bool
	// bodies are those of the requests under way.
	bodies bodies
	// steps are the order of refusals: the first that applies answers. foreign are those of calls in other protocols,
	// inner those of calls that a door makes for its caller.
	steps, foreign, inner []step
	// quiet reaches verdicts for the edge's own use.
	quiet   *verdict.Judge
	waiting waiting
	streams *streams
}

var errNoAssertions = errors.New("gateway: upstreams need Config.Assertions, which vouch for callers")

// step looks at one side of a request; its error is the answer.
type step func(x *exchange) error

// New makes an edge. The error lists every row of the catalogue that nothing serves
// and every handler without a row.
func New(cfg Config) (*Edge, error) {
	if len(cfg.Upstreams) > 0 && cfg.Assertions == nil {
		return nil, errNoAssertions
	}
	e := newBounded(cfg)
	e.rows = slices.Clone[[]resources.Route]
	e.steps = []step{
		e.frame, e.find, e.readBody, e.admit, e.identify, e.limit, e.answerProxy, e.throughDoor, e.checkMediaType, e.checkHeaders, e.authorize, e.answer,
	}
	e.foreign = []step{e.admit, e.identify, e.limit, e.answerProxy}
	e.inner = []step{e.find, e.admit, e.assume, e.limit, e.throughDoor, e.checkMediaType, e.checkHeaders, e.authorize, e.answer}
	e.quiet = cfg.Judge.Quiet()
	e.waiting.again = []step{e.admit, e.identifyAgain, e.authorizeAgain}
	if err := e.unusedUpstream(); err != nil {
		return nil, err
	}
	return e.start()
}

// newBounded makes an edge with its bounds and without steps.
func newBounded(cfg Config) *Edge {
	upstreams := map[string]*upstream{}
	for name, base := range cfg.Upstreams {
		upstreams[name] = newUpstream(name, base, cfg.Limits, cfg.Assertions)
	}
	return &Edge{
		bodies: bodies{most: int64(cfg.Limits.Bodies)},
		cfg:    cfg, upstreams: upstreams, gate: newGate(cfg.Limits.Requests),
		open:    listen.NewBounds(cfg.Limits.Connections, cfg.Limits.PerAddress, cfg.IDs, cfg.Log),
		waiting: waiting{clients: newGate(cfg.Limits.Requests), drained: make(chan struct{})},
		streams: newStreams(cfg.Limits),
	}
}

// unusedUpstream refuses the name of an upstream that no row has: it is misspelt, or its rows are
// missing. A reload may take the last row of an upstream away.
func (e *Edge) unusedUpstream() error {
	for name := range e.cfg.Upstreams {
		if !slices.ContainsFunc(e.cfg.Catalogue, func(r resources.Route) bool { return r.Upstream == name }) {
			return fmt.Errorf("upstream %q: no route of the catalogue names it", name)
		}
	}
	return nil
}

func (e *Edge) start() (*Edge, error) {
	if err := e.SetCatalogue(e.cfg.Revision, e.cfg.Catalogue); err != nil {
		return nil, err
	}
	e.app = e.newApp()
	return e, nil
}

// CheckCatalogue says whether the edge could serve these rows.
func (e *Edge) CheckCatalogue(routes []resources.Route) error {
	_, err := e.newTable("", e.rows(routes))
	return err
}

// Rows returns the rows in use.
func (e *Edge) Rows() *catalogue.Index { return e.routes.Load().Index }

// SetCatalogue takes the rows of another tree into use. The tree judges already: until then, calls that it allows wait for
// its rows. On an error the rows in use stay.
func (e *Edge) SetCatalogue(revision string, routes []resources.Route) error {
	t, err := e.newTable(revision, e.rows(routes))
	if err != nil {
		return err
	}
	e.routes.Store(t)
	return nil
}

// Listen serves the listener until Shutdown.
func (e *Edge) Listen(l net.Listener) error {
	return e.listen(l, e.cfg.Certificates.Config("http/1.1"), false)
}

// ListenInside serves a listener of this process (listen.Memory) until Shutdown, without TLS.
func (e *Edge) ListenInside(l net.Listener) error { return e.listen(l, nil, true) }

func (e *Edge) listen(l net.Listener, config *tls.Config, inside bool) error {
	bounded := e.open.Listener(l, config)
	bounded.Wrap = func(c *listen.Conn) net.Conn { return &conn{Conn: c, inside: inside} }
	if err := e.app.Listener(bounded); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return nil
}

// Leave begins a stop: requests are still taken, and each answer ends its connection, so that clients
// go elsewhere.
func (e *Edge) Leave() { e.leaving.Store(true) }

// Shutdown stops accepting, lets requests under way finish within the context's
// time, and closes. Endless streams end at once, the others just before the time is over.
func (e *Edge) Shutdown(ctx context.Context) error {
	e.open.Drain()
	e.waiting.end()
	defer e.streams.stop(ctx)()
	if err := e.app.ShutdownWithContext(ctx); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return nil
}

// newApp makes the server. The framework's router is not asked: it decodes and normalises a path
// before it matches, and answers methods that it does not know by itself.
func (e *Edge) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true, ReadBufferSize: e.cfg.Limits.Header,
		ReadTimeout: e.cfg.Limits.Read, WriteTimeout: e.cfg.Limits.Write, IdleTimeout: e.cfg.Limits.Idle,
		ErrorHandler: func(c *fiber.Ctx, err error) error { e.malformed(c.Context(), err); return nil },
	})
	srv := app.Server()
	srv.SecureErrorLogMessage = true
	srv.Logger = quiet{}
	srv.NoDefaultContentType = true
	srv.HeaderReceived = headOnly
	srv.CloseOnShutdown = true // else a client sends its next request into a connection that is being closed
	srv.Handler = e.handle
	return app
}

// quiet drops the server's own log lines: they may quote a request, and every request that can be
// answered has its access record.
type quiet struct{}

// Printf implements fasthttp.Logger.
func (quiet) Printf(string, ...any) {}

// Connections returns how many connections are open, and how many were refused: by the bound of all
// connections, and by that of one address.
func (e *Edge) Connections() (open int, refused, refusedOfAddress uint64) {
	refused, refusedOfAddress = e.open.Refused()
	return e.open.Open(), refused, refusedOfAddress
}

// FailedHandshakes returns how many TLS handshakes of clients have failed.
func (e *Edge) FailedHandshakes() uint64 { return e.open.FailedHandshakes() }

// Gates returns the bounds of the requests under way by name: "requests", "streams", and each upstream's.
func (e *Edge) Gates() map[string]*gate.Gate {
	all := map[string]*gate.Gate{"requests": e.gate, "streams": e.streams.places}
	for name, p := range e.upstreams {
		all["upstream "+name] = p.gate
	}
	return all
}

// admit sheds what is over the bound of requests under way, before it costs any work: 503.
func (e *Edge) admit(x *exchange) error { return x.enter(e.gate) }

// enter takes a place at a gate. The request leaves it in any case.
func (x *exchange) enter(g *gate.Gate) error {
	if err := g.TryEnter(); err != nil {
		return err
	}
	x.gate = g
	return x.share()
}

// share counts the request among those of the caller's account, once the caller is known.
func (x *exchange) share() error {
	account := turnsOf(&x.principal)
	if x.shared != "" {
		return nil
	}
	err := x.gate.Share(account)
	if err == nil {
		x.shared = account
	}
	return err
}

// leave gives the place back, if the request has one.
func (x *exchange) leave() {
	if x.gate != nil {
		x.gate.Unshare(x.shared)
		x.gate.Leave()
	}
	x.gate, x.shared = nil, ""
}

// newGate makes a bound without a queue: a request that waits would hold memory for a late answer.
func newGate(requests int) *gate.Gate {
	if requests == 0 {
		return nil
	}
	return gate.New(requests, 0)
}
