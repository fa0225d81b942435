package peer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Bounds of an upstream's answer in bytes: one head, and all heads of one answer, the interim
// ones included.
const (
	maxAnswerHead  = 64 << 10
	maxAnswerHeads = 8 * maxAnswerHead
)

var errUnheard = errors.New("the head of the upstream's answer is too long, or was not heard")

// heardConn is a connection to an upstream; it keeps the heads of an answer. The client drops a Connection header with
// close, and with it the names of this connection's headers.
type heardConn struct {
	net.Conn
	mu  sync.Mutex
	now *hearing
}

// hearing keeps the heads of one answer. It is not the connection's: after an answer without a body the client reuses
// the connection for the next call before the first call has seen its answer.
type hearing struct {
	mu    sync.Mutex
	ended bool
	heads []byte
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

func heard(dialer dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &heardConn{Conn: c}, nil
	}
}

// heardTransport returns a client's transport whose connections are heard: HTTP/1.1, with TLS or without. Within
// bounds how long a connection takes to be made: the transport goes on with it when the call has ended.
func heardTransport(timeout time.Duration) *http.Transport {
	plain := &net.Dialer{Timeout: timeout}
	secure := tls.Dialer{NetDialer: plain, Config: &tls.Config{MinVersion: tls.VersionTLS12}} // with the handshake
	return &http.Transport{
		DialContext: heard(plain.DialContext), DialTLSContext: heard(secure.DialContext), MaxResponseHeaderBytes: maxAnswerHead,
	}
}

// Read implements net.Conn.
func (c *heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	now := c.now
	c.mu.Unlock()
	if now != nil {
		now.add(p[:n])
	}
	return n, err
}

// hear keeps what comes from now on, for one answer.
func (c *heardConn) hear() *hearing {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = &hearing{}
	return c.now
}

func (h *hearing) add(part []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended && len(h.heads) <= maxAnswerHeads {
		h.heads = append(h.heads, part...)
	}
}

// names returns the headers named by Connection in the kept heads, and keeps nothing after it.
func (h *hearing) names() (map[string]bool, error) {
	h.mu.Lock()
	heads := h.heads
	h.ended, h.heads = true, nil
	h.mu.Unlock()
	if len(heads) > maxAnswerHeads {
		return nil, errUnheard
	}
	r := textproto.NewReader(bufio.NewReader(bytes.NewReader(heads)))
	for {
		line, err := r.ReadLine()
		if err != nil {
			return nil, errors.Join(errUnheard, err)
		}
		head, err := r.ReadMIMEHeader()
		if err != nil {
			return nil, errors.Join(errUnheard, err)
		}
		if _, status, _ := strings.Cut(line, " "); !strings.HasPrefix(status, "1") {
			return connectionNamed(http.Header(head)), nil
		}
	}
}

// endToEnd sends a request and gives the answer without the headers that belong to its connection.
func endToEnd(client *http.Client, out *http.Request) (*http.Response, error) {
	h := &hearing{}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { // once more where it is sent again
		if c, ok := info.Conn.(*heardConn); ok {
			h = c.hear()
		}
	}}
	resp, err := client.Do(out.WithContext(httptrace.WithClientTrace(out.Context(), trace)))
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok { // it holds the upstream's address and the query, which are not logged
			err = cause.Err
		}
		return nil, err
	}
	names, err := h.names()
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	for name := range names {
		delete(resp.Header, name)
	}
	return resp, nil
}

// connectionNamed returns the headers that Connection names as hop-by-hop.
func connectionNamed(h http.Header) map[string]bool {
	out := map[string]bool{}
	for _, line := range h.Values("Connection") {
		for name := range strings.SplitSeq(line, ",") {
			out[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	return out
}
