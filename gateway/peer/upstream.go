package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errSwitched = errors.New("the upstream answered with a status that is none, or switched protocols unasked")
	// errNotVouched is a refused assertion, as the gateway and as the process behind it says it.
	errNotVouched = errors.New("the upstream does not take this gateway's word: both need the same master key, catalogue and time")
)

// idleConnections is how many connections to one upstream wait for the next call.
const idleConnections = 64

// Upstream is another process to which allowed calls are passed. It is safe for concurrent use.
type Upstream struct {
	name    string
	base    *url.URL
	timeout time.Duration
	client  *http.Client
	keys    *assertion.Keys
}

// NewUpstream makes an upstream from its name and address. Within bounds the wait for a connection, for the head of an
// answer and for each part of its body; idle is how long the other side keeps a connection without a call.
func NewUpstream(name string, base *url.URL, timeout, idle time.Duration, keys *assertion.Keys) *Upstream {
	transport := heardTransport(timeout)
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = idleConnections, idle/2 // before the other side closes
	transport.ResponseHeaderTimeout, transport.DisableCompression = timeout, true
	return &Upstream{name: name, base: base, timeout: timeout, keys: keys, client: &http.Client{
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is the caller's to follow
		},
	}}
}

// Answer is an upstream's answer. Header holds what may be passed back; Body has to be closed.
type Answer struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
	// Length is the body's in bytes; -1 is not known.
	Length int64
}

// Pass passes a call on, and gives the answer. Said.Upstream is the audience of the assertion, "" for the upstream's
// name. Said.Target is the raw path with its query; the upstream's own path is put before it. Header are the call's own
// headers; only those in Passed reach the upstream. The body of the answer may be read after ctx has ended. The error
// is of resources.KindUnavailable if the upstream does not answer as it should.
func (u *Upstream) Pass(ctx context.Context, said assertion.Statement, header http.Header) (*Answer, error) {
	// The time begins anew with each part of the answer that is waited for.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	idle := time.AfterFunc(u.timeout, cancel)
	resp, err := u.ask(ctx, said, header) //nolint:bodyclose // the answer's body closes it
	idle.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	for name := range resp.Header {
		if !PassesBack(name) {
			delete(resp.Header, name)
		}
	}
	return &Answer{
		Status: resp.StatusCode, Header: resp.Header, Length: resp.ContentLength,
		Body: &body{ReadCloser: resp.Body, idle: idle, timeout: u.timeout, done: cancel},
	}, nil
}

// ask sends a call that is vouched for. A target is sent as it is: the client would clean a URL's
// path.
func (u *Upstream) ask(ctx context.Context, said assertion.Statement, header http.Header) (*http.Response, error) {
	out, err := http.NewRequestWithContext(ctx, said.Method, u.base.Scheme+"://"+u.base.Host, bytes.NewReader(said.Body))
	if err != nil {
		return nil, err
	}
	said.Upstream, said.Target = cmp.Or(said.Upstream, u.name), strings.TrimSuffix(u.base.EscapedPath(), "/")+said.Target
	out.URL.Opaque, out.URL.RawQuery, out.URL.ForceQuery = strings.Cut(said.Target, "?")
	if len(said.Body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
	}
	token, err := u.keys.Sign(said)
	if err != nil {
		return nil, err
	}
	out.Header = outgoing(header, said)
	out.Header.Set(assertion.Header, token)
	resp, err := endToEnd(u.client, out)
	switch {
	case err != nil:
	case resp.StatusCode < 200 || resp.StatusCode > 599: // 101 would end HTTP on this connection, others can't be sent on
		err = errors.Join(errSwitched, resp.Body.Close())
	case resp.StatusCode == http.StatusUnauthorized && resp.Header.Get(RefusedHeader) != "": // not the caller's fault
		err = errors.Join(errNotVouched, resp.Body.Close())
	}
	if err != nil {
		return nil, resources.Unavailable("The service behind this path does not answer now; try again.", err)
	}
	return resp, nil
}

// body is an answer's body. It ends when a read of it takes too long, and ends the call when it is closed. The
// time in which nobody reads is the client's.
type body struct {
	io.ReadCloser
	idle    *time.Timer
	timeout time.Duration
	done    context.CancelFunc
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.idle.Reset(b.timeout)
	defer b.idle.Stop()
	return b.ReadCloser.Read(p)
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
