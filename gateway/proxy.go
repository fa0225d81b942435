package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// passedOn are the request headers that an upstream sees. Everything else stays
// here: the caller's credential, hop-by-hop headers, and whatever claims an identity,
// under any name.
var passedOn = []string{
	"Accept", "Accept-Language", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "User-Agent",
	"Traceparent", "Tracestate",
}

// ownPrefix begins the names of what gateways and areas tell each other.
const ownPrefix = "X-Portcullis-"

// notPassedBack are the response headers that end here (RFC 9110, 7.6.1), with those
// that the gateway sets itself.
var notPassedBack = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "X-Request-Id": true,
	"Server": true, "Date": true,
	// What the gateway itself says in answers.
	"X-Decision-Id": true, "X-Policy-Revision": true, "X-Account-Revision": true,
	// What says who calls: a server in front might take an echo of it for the gateway's word.
	"X-User-Id": true, "X-Account-Id": true, "X-Action": true, "X-Principal-Kind": true, "Authorization": true, "X-Api-Key": true,
}

// passesBack says whether an upstream's response header is the client's, too. Some servers read
// an underscore as a hyphen.
func passesBack(name string) bool {
	read := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return isToken([]byte(name)) && !notPassedBack[read] && !strings.HasPrefix(read, ownPrefix)
}

var (
	errSwitched      = errors.New("the upstream answered with a status that is none, or switched protocols unasked")
	errUnknownLength = errors.New("the upstream's answer does not say how long it is, and is over --body-limit")
	errNotVouched    = errors.New("the upstream does not take this gateway's word: both need the same master key, catalogue and time")
)

// proxy passes allowed requests to another process.
type proxy struct {
	name   string
	base   *url.URL
	client *http.Client
	limits Limits
	keys   *assertion.Keys
	gate   *gate.Gate
}

func newProxy(name string, base *url.URL, limits Limits, keys *assertion.Keys) *proxy {
	transport := heardTransport()
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = 64, limits.Idle/2 // before the other side closes
	transport.ResponseHeaderTimeout, transport.DisableCompression = limits.Upstream, true
	return &proxy{name: name, base: base, limits: limits, keys: keys, gate: newGate(limits.Requests), client: &http.Client{
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is the caller's to follow
		},
	}}
}

// pass sends the request on, byte for byte the same path and query, and the answer back.
func (p *proxy) pass(x *exchange, all *bodies) error {
	// The answer's body is still on its way when the exchange is over. The time begins
	// anew with each part that arrives.
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.ctx))
	idle := time.AfterFunc(p.limits.Upstream, cancel)
	out, err := p.request(ctx, x)
	if err != nil {
		cancel()
		return err
	}
	in, err := p.send(out) //nolint:bodyclose // the stream of the answer closes it
	if err != nil {
		cancel()
		return err
	}
	stream, size := readCloser(&body{readCloser: in.Body, idle: idle, within: p.limits.Upstream, done: cancel}), int(in.ContentLength)
	if size < 0 && !x.raw.Request.Header.IsHTTP11() {
		if stream, size, err = whole(counting{stream, all, &x.bodyHeld}, stream, p.limits.Body); err != nil {
			return err
		}
	}
	h := &x.raw.Response.Header
	for name, values := range in.Header {
		if !passesBack(name) {
			continue
		}
		for _, value := range values {
			h.Add(name, value)
		}
	}
	x.raw.Response.SetStatusCode(in.StatusCode)
	x.raw.Response.SetBodyStream(stream, size)
	return nil
}

// whole reads a body to its end, so that its length is known: a client of HTTP/1.0 does not know
// the chunks in which it would be sent.
func whole(from io.Reader, closing io.Closer, most int) (readCloser, int, error) {
	read, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err = errors.Join(err, closing.Close()); err == nil && len(read) > most {
		err = errUnknownLength
	}
	if err != nil {
		return nil, 0, resources.Unavailable("The service behind this path did not answer as HTTP/1.0 needs it; ask by HTTP/1.1.", err)
	}
	return io.NopCloser(bytes.NewReader(read)), len(read), nil
}

// send gives the answer of an upstream that took the request.
func (p *proxy) send(out *http.Request) (*http.Response, error) {
	in, err := endToEnd(p.client, out)
	switch {
	case err != nil:
	case in.StatusCode < 200 || in.StatusCode > 599: // 101 would end HTTP on this connection, others can't be sent on
		err = errors.Join(errSwitched, in.Body.Close())
	case in.StatusCode == http.StatusUnauthorized && in.Header.Get(refusedHeader) != "": // that is no fault of the caller
		err = errors.Join(errNotVouched, in.Body.Close())
	}
	if err != nil {
		return nil, resources.Unavailable("The service behind this path does not answer now; try again.", err)
	}
	return in, nil
}

func (p *proxy) request(ctx context.Context, x *exchange) (*http.Request, error) {
	target := x.path
	if x.hasQuery {
		target += "?" + x.query
	}
	out, err := p.signed(ctx, x.body, assertion.Statement{
		RequestID: x.record.RequestID, Method: x.method, Target: target, IdempotencyKey: x.idempotencyKey(),
		Principal: x.principal, Account: x.account, Action: x.entry.Action.ID,
	})
	if err != nil {
		return nil, err
	}
	for _, name := range passedOn {
		for _, value := range x.raw.Request.Header.PeekAll(name) {
			if len(value) > 0 {
				out.Header.Add(name, string(value))
			}
		}
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header["User-Agent"] = nil // else the client adds its own
	}
	identify(out.Header, x)
	return out, nil
}

// signed makes a request to the upstream, vouched for. The statement's target is sent
// below the upstream's own path, as it is: the client would clean a URL's path.
func (p *proxy) signed(ctx context.Context, body []byte, s assertion.Statement) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, s.Method, p.base.Scheme+"://"+p.base.Host, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	s.Upstream, s.Body, s.Target = p.name, body, strings.TrimSuffix(p.base.EscapedPath(), "/")+s.Target
	out.URL.Opaque, out.URL.RawQuery, out.URL.ForceQuery = splitTarget(s.Target)
	if len(body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
	}
	token, err := p.keys.Sign(s)
	if err != nil {
		return nil, err
	}
	out.Header.Set(assertion.Header, token)
	return out, nil
}

// identify sets the headers that an upstream can trust: nothing else reaches it
// under these names.
func identify(h http.Header, x *exchange) {
	h.Set("X-Request-ID", x.record.RequestID)
	if x.principal.Kind != resources.PrincipalNone {
		h.Set("X-User-ID", x.principal.ID)
		h.Set("X-Principal-Kind", x.principal.Kind)
	}
	if x.account != "" {
		h.Set("X-Account-ID", x.account)
	}
	if x.entry.Action.ID != "" {
		h.Set("X-Action", x.entry.Action.ID)
	}
}

// withoutURL keeps an upstream's address and the query out of the log line's cause.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// body is an upstream's body; it ends when nothing has come for too long, and ends
// the request when it is closed.
type body struct {
	readCloser
	idle   *time.Timer
	within time.Duration
	done   context.CancelFunc
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.idle.Reset(b.within)
	return b.readCloser.Read(p)
}

type readCloser interface {
	Read(p []byte) (int, error)
	Close() error
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.idle.Stop()
	defer b.done()
	return b.readCloser.Close()
}
