package gateway

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// passedOn are the request headers that an upstream sees. Everything else stays
// here: the caller's credential, hop-by-hop headers, and whatever claims an identity,
// under any name.
var passedOn = []string{
	"Accept", "Accept-Language", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "User-Agent",
	"Traceparent", "Tracestate",
}

// notPassedBack are the response headers that end here (RFC 9110, 7.6.1), with those
// that the gateway sets itself.
var notPassedBack = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "X-Request-Id": true,
	"Server": true, "Date": true,
}

var errSwitched = errors.New("the upstream switched protocols unasked")

// proxy passes allowed requests to another process.
type proxy struct {
	base   *url.URL
	client *http.Client
	limits Limits
}

func newProxy(base *url.URL, limits Limits) *proxy {
	transport := &http.Transport{
		MaxIdleConnsPerHost: 64, IdleConnTimeout: limits.Idle, ResponseHeaderTimeout: limits.Upstream,
		DisableCompression: true,
	}
	return &proxy{base: base, limits: limits, client: &http.Client{
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is the caller's to follow
		},
	}}
}

// pass sends the request on, byte for byte the same path and query, and the answer back.
func (p *proxy) pass(x *exchange) error {
	// The answer's body is still on its way when the exchange is over. The time begins
	// anew with each part that arrives.
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.ctx))
	idle := time.AfterFunc(p.limits.Upstream, cancel)
	out, err := p.request(ctx, x)
	if err != nil {
		cancel()
		return err
	}
	in, err := p.client.Do(out)
	if err != nil {
		cancel()
		return resources.Unavailable("The service behind this path does not answer now; try again.", withoutURL(err))
	}
	if in.StatusCode == http.StatusSwitchingProtocols { // nobody asked for it, and it would end HTTP on this connection
		cancel()
		return resources.Unavailable("The service behind this path does not answer now; try again.", errors.Join(errSwitched, in.Body.Close()))
	}
	h := &x.raw.Response.Header
	drop := connectionNamed(in.Header)
	for name, values := range in.Header {
		if notPassedBack[name] || drop[name] {
			continue
		}
		for _, value := range values {
			h.Add(name, value)
		}
	}
	x.raw.Response.SetStatusCode(in.StatusCode)
	x.raw.Response.SetBodyStream(&body{readCloser: in.Body, idle: idle, within: p.limits.Upstream, done: cancel}, int(in.ContentLength))
	return nil
}

func (p *proxy) request(ctx context.Context, x *exchange) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, x.method, p.base.Scheme+"://"+p.base.Host, bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	out.URL.Opaque = strings.TrimSuffix(p.base.EscapedPath(), "/") + x.path // sent as it is; the client would clean a Path
	out.URL.RawQuery, out.URL.ForceQuery = x.query, x.hasQuery
	if len(x.body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
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

// identify sets the headers that an upstream can trust: nothing else reaches it
// under these names.
func identify(h http.Header, x *exchange) {
	h.Set("X-Request-ID", x.record.RequestID)
	if x.principal.Kind != resources.PrincipalNone {
		h.Set("X-User-ID", x.principal.ID)
		h.Set("X-Principal-Kind", x.principal.Kind)
	}
	if x.ask.account != "" {
		h.Set("X-Account-ID", x.ask.account)
	}
	if x.entry.Action != "" {
		h.Set("X-Action", x.entry.Action)
	}
}

// connectionNamed are the headers that Connection names as hop-by-hop.
func connectionNamed(h http.Header) map[string]bool {
	out := map[string]bool{}
	for _, line := range h.Values("Connection") {
		for name := range strings.SplitSeq(line, ",") {
			out[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	return out
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
