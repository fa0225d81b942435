package gateway_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
)

// TestHeadsReadInTwoWaysAreRefused by the edge or by its server; the others are taken.
func TestHeadsReadInTwoWaysAreRefused(t *testing.T) {
	const line, host = "POST /x HTTP/1.1\r\n", "Host: h\r\n"
	many := func(n int) string { return line + host + strings.Repeat("X-A: b\r\n", n-1) }
	for name, c := range map[string]struct {
		head  string
		taken bool
	}{
		"plain": {line + host, true}, "length": {line + host + "Content-Length: 5\r\n", true}, "coding": {line + host + "Transfer-Encoding: chunked\r\n", true},
		"coding in capitals": {line + host + "transfer-encoding: CHUNKED\r\n", true}, "odd token": {line + host + "X!#$%&'*+.^_`|~-1: b\r\n", true},
		"hundred lines": {many(100), true}, "empty value": {line + host + "X-A:\r\n", true},
		"no host": {line + "X-A: b\r\n", false}, "no lines": {line, false}, "two hosts": {line + host + host, false}, "host with space": {line + "Host : h\r\n", false},
		"hundred and one lines": {many(101), false}, "trailer": {line + host + "Trailer: X-A\r\n", false}, "trailer with length": {line + host + "Content-Length: 1\r\nTRAILER: X-A\r\n", false},
		"two codings": {line + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", false}, "identity": {line + host + "Transfer-Encoding: identity\r\n", false},
		"both": {line + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", false}, "both, the other way": {line + host + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", false},
		"length and its kin": {line + host + "Content-Length: 5\r\nContent_Length: 6\r\n", false}, "kin of length": {line + host + "Content_Length: 6\r\n", false},
		"kin of coding": {line + host + "Transfer_Encoding: chunked\r\n", false}, "space in a name": {line + host + "X A: b\r\n", false}, "slash in a name": {line + host + "X/A: b\r\n", false},
		"name in brackets": {line + host + "[X]: b\r\n", false}, "folded": {line + host + "X-A: b\r\n c: d\r\n", false}, "no colon": {line + host + "X-A\r\n", false},
		"bare LF": {line + "Host: h\nX-A: b\r\n", false}, "bare LF after": {line + host + "X-A: b\nX-B: c\r\n", false}, "CR": {line + host + "X-A: b\rX-B: c\r\n", false}, "NUL": {line + host + "X-A: \x00\r\n", false},
		"1.0": {"POST /x HTTP/1.0\r\n" + host, true}, "1.0 without a host": {"POST /x HTTP/1.0\r\nX-A: b\r\n", true}, "1.0 without a line": {"POST /x HTTP/1.0\r\n", true}, "1.0 with a coding": {"POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", false}, "1.2": {"POST /x HTTP/1.2\r\n" + host, false}, "2.0": {"PRI * HTTP/2.0\r\n" + host, false},
		"absolute": {"GET http://h/x HTTP/1.1\r\n" + host, false}, "authority": {"CONNECT h:1 HTTP/1.1\r\n" + host, false}, "asterisk": {"OPTIONS * HTTP/1.1\r\n" + host, false},
	} {
		t.Run(name, func(t *testing.T) {
			if h, err := gateway.ScanHeaders(c.head + "\r\n"); (h != nil && err == nil) != c.taken {
				t.Errorf("taken=%v: %v", !c.taken, err)
			}
		})
	}
}

// TestHeaderNamesAreTokens guarantees the bytes allowed in a name and those refused. No spelling of
// a framing header is overlooked.
func TestHeaderNamesAreTokens(t *testing.T) {
	const head, token = "POST /x HTTP/1.1\r\nHost: h\r\n", "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for c := range 256 {
		name := "X" + string([]byte{byte(c)}) + "a"
		want := strings.IndexByte(token, byte(c)) >= 0 || c == ':' // which ends the name
		if h, err := gateway.ScanHeaders(head + name + ": b\r\n\r\n"); (h != nil && err == nil) != want {
			t.Errorf("%q: taken=%v, %v", name, !want, err)
		}
	}
	const framing = "content-length"
	for i := range framing {
		for c := range 256 {
			name := framing[:i] + string([]byte{byte(c)}) + framing[i+1:]
			same := strings.EqualFold(name, framing) && c < 128 || framing[i] == '-' && c == '_'
			if h, err := gateway.ScanHeaders(head + "Transfer-Encoding: chunked\r\n" + name + ": 5\r\n\r\n"); (h == nil || err != nil) != same && strings.IndexByte(token, byte(c)) >= 0 {
				t.Errorf("%q is read as %s: %v, want %v", name, framing, !same, same)
			}
		}
	}
}

// TestCloseIsHeardInAnySpelling guarantees that the connection closes after the answer to a last request (RFC 9112, 9.6).
// The option may have capital letters, and others may stand beside it.
func TestCloseIsHeardInAnySpelling(t *testing.T) {
	e := start(t)
	for value, closes := range map[string]bool{
		"close": true, "Close": true, "TE, close": true, "keep-alive,CLOSE ": true, "keep-alive": false, "closed": false, "x-close, te": false,
	} {
		if r := e.send(t, question("projects/proj-a-v1/instances", "Connection: "+value)); r.Status != 200 || r.Close != closes {
			t.Errorf("%s: %d, closes: %t", value, r.Status, r.Close)
		}
	}
	if r := e.send(t, question("projects/proj-a-v1/instances", "Connection: te", "Connection: close")); !r.Close {
		t.Error("the option of a second line is not heard")
	}
	if r := e.send(t, question("projects/proj-a-v1/instances", "Connection: close", "Connection: te")); !r.Close {
		t.Error("the option of a first line is not heard")
	}
}
