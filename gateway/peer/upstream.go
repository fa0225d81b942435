package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errTimeout  = errors.New("the upstream was silent for too long")
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
	transport.DisableCompression = true
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
	// Wait is how long after the call's arrival its client waits for another answer.
	Wait time.Duration
}

// Call is a call that is passed to an upstream.
type Call struct {
	// Statement is what the gateway says of the call. Its Upstream is the audience of the assertion, "" for the upstream's
	// name. Its Target is the raw path with its query, and follows the upstream's own path; "" is that path alone.
	assertion.Statement
	// Header are the call's own headers; only those in Passed reach the upstream.
	Header http.Header
	// Further are headers of the door's protocol; only those of MCP reach the upstream.
	Further http.Header
	// Credential is what the call shows; the zero one is the assertion.
	Credential Credential
	// Head bounds the wait for the head of the answer, 0 as the upstream's timeout does.
	Head time.Duration
	// Silent says that the body of the answer may pause for any time.
	Silent bool
}

// Pass passes a call on, and gives the answer. The end of ctx ends the call at once, also while the body of the answer is
// read. The error is of resources.KindUnavailable if the upstream does not answer as it should.
func (u *Upstream) Pass(ctx context.Context, call Call) (*Answer, error) {
	// The time begins anew with each part of the answer that is waited for.
	ctx, cancel := context.WithCancelCause(ctx)
	idle := time.AfterFunc(cmp.Or(call.Head, u.timeout), func() { cancel(errTimeout) })
	resp, err := u.ask(ctx, call)
	if !idle.Stop() && err == nil {
		err = resources.Unavailable(notNow, errors.Join(errTimeout, resp.Body.Close()))
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	wait, _ := strconv.ParseInt(resp.Header.Get(WaitHeader), 10, 32) // 0 without a number
	for name := range resp.Header {
		if !PassesBack(name) {
			delete(resp.Header, name)
		}
	}
	return &Answer{
		Status: resp.StatusCode, Header: resp.Header, Length: resp.ContentLength, Wait: time.Duration(wait) * time.Millisecond,
		Body: &body{ReadCloser: resp.Body, idle: idle, timeout: u.timeout, silent: call.Silent, done: cancel},
	}, nil
}

// ask sends a call with its credential. A target is sent as it is: the client would clean a URL's
// path.
func (u *Upstream) ask(ctx context.Context, call Call) (*http.Response, error) {
	said := call.Statement
	origin := url.URL{Scheme: u.base.Scheme, Host: u.base.Host}
	out, err := http.NewRequestWithContext(ctx, said.Method, origin.String(), bytes.NewReader(said.Body))
	if err != nil {
		return nil, err
	}
	said.Upstream, said.Target = cmp.Or(said.Upstream, u.name), u.target(said.Target)
	out.URL.Opaque, out.URL.RawQuery, out.URL.ForceQuery = strings.Cut(said.Target, "?")
	if len(said.Body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
	}
	out.Header = outgoing(call.Header, call.Further)
	out.Header.Set("X-Request-ID", said.RequestID)
	if err := call.Credential.show(out.Header, u.keys, said); err != nil {
		return nil, err
	}
	resp, err := endToEnd(u.client, out)
	switch {
	case err != nil:
	case resp.StatusCode < 200 || resp.StatusCode > 599: // 101 would end HTTP on this connection, others can't be sent on
		err = errors.Join(errSwitched, resp.Body.Close())
	case call.Credential == Credential{} && refuses(resp): // not the caller's fault
		err = errors.Join(errNotVouched, resp.Body.Close())
	}
	if err != nil {
		return nil, resources.Unavailable(notNow, err)
	}
	return resp, nil
}

// refuses reports whether the process behind the gateway refuses the gateway, and not the caller.
func refuses(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed:
		return resp.Header.Get(RefusedHeader) != ""
	}
	return false
}

const notNow = "The service behind this path does not answer now; try again."

// target returns the path and the query of a call.
func (u *Upstream) target(target string) string {
	base := u.base.EscapedPath()
	if target == "" {
		return cmp.Or(base, "/")
	}
	return strings.TrimSuffix(base, "/") + target
}

// body is an answer's body. It ends when a read of it takes too long, unless it may be silent, and ends the call when it is closed. The
// time in which nobody reads is the client's.
type body struct {
	io.ReadCloser
	idle    *time.Timer
	timeout time.Duration
	silent  bool
	done    context.CancelCauseFunc
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if !b.silent {
		b.idle.Reset(b.timeout)
		defer b.idle.Stop()
	}
	return b.ReadCloser.Read(p)
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.done(context.Canceled)
	return b.ReadCloser.Close()
}
