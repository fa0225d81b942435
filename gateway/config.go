package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Authenticator turns the values of Authorization and X-API-Key, at most one of each, into a principal
// (gateway/authn).
type Authenticator interface {
	Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error)
	// AuthenticateFor takes a token alone, and one whose audience is the given one. It takes agents of the account without
	// a user, unless the account is "".
	AuthenticateFor(ctx context.Context, audience, agentsOf string, authorization []string) (resources.Principal, error)
}

// Config holds the parts of an edge. Every field but SubRequests, Upstreams, Certificates, Rates, Observe and Tracing is
// needed.
type Config struct {
	Judge *verdict.Judge
	Authn Authenticator
	// Doors answer the rows whose upstream is resources.UpstreamAuthorize, by the row's name.
	Doors map[string]doors.Door
	// SubRequests read, from the calls of such rows, the calls of others that are asked about.
	SubRequests map[string]doors.SubRequest
	// Catalogue is bound to Doors, Handlers and Upstreams; a row that does not fit is an error.
	Catalogue []resources.Route
	// Revision names the catalogue's tree. A process behind gateways judges nothing, and needs none.
	Revision string
	// Handlers are this process's, by upstream name.
	Handlers map[string]wire.Routes
	// Upstreams are other processes, by name.
	Upstreams map[string]*url.URL
	// Assertions vouch for callers to Upstreams; an inner edge checks them.
	Assertions *assertion.Keys
	// Certificates are those of the listeners; nil is plain HTTP.
	Certificates *listen.Certificates
	Limits       Limits
	Rates        Rates
	IDs          resources.IDs
	Now          func() time.Time
	Log          *slog.Logger
	// Observe is called with the record of every answered request; it must not block.
	Observe func(Record)
	// Tracing follows requests through the process; nil follows none.
	Tracing Tracing
}

// Tracing follows requests. The contexts that it returns carry the request's span.
type Tracing interface {
	// Begin begins the span of a request, inside the caller's where parent, a traceparent of W3C's, names one. end ends
	// it with what is known then.
	Begin(ctx context.Context, method, parent string) (_ context.Context, traceID string, end func(*Record))
	// Pass begins the span of a call to an upstream, and names it in the call's headers. end ends it with the status of
	// the answer, 0 for none.
	Pass(ctx context.Context, upstream, method string, header http.Header) (_ context.Context, end func(status int, err error))
}

// Limits bound what one request and one connection may take.
type Limits struct {
	// Body is the largest body in bytes; Header the largest request line with headers.
	Body, Header int
	// Bodies is the total size in bytes of the bodies of all requests under way; 0 sets no bound.
	Bodies int
	// Read, Write and Idle are a connection's timeouts.
	Read, Write, Idle time.Duration
	// Upstream is how long an upstream may take to begin its answer, and then for each part of it.
	Upstream time.Duration
	// Handle is how long deciding and handling in this process may take.
	Handle time.Duration
	// Connections are those open at once, PerAddress those from one address (of IPv6, one /64); 0 sets no bound.
	Connections, PerAddress int
	// Requests are those decided and handled in this process at once, and those passed to each upstream; 0 sets no
	// bound.
	Requests int
	// Streams are the calls of doors that may last, at once; StreamsPerAccount those of one account, or of one caller
	// without an account. 0 sets no bound.
	Streams, StreamsPerAccount int
}

// DefaultLimits returns the limits of the API contract, 1.
func DefaultLimits() Limits {
	return Limits{
		Body: 1 << 20, Header: 32 << 10, Bodies: 256 << 20,
		Read: 10 * time.Second, Write: 30 * time.Second, Idle: 75 * time.Second, Upstream: 30 * time.Second,
		Handle: 10 * time.Second, Connections: 16_384, PerAddress: 8_192, Requests: 4_096, Streams: 4_096, StreamsPerAccount: 512,
	}
}
