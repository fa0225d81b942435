package harness

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/contract"
	"github.com/portcullis-authz/portcullis/test/must"
)

// RawAnswer is what came back on a socket: the first answer, and whether the server
// closed the connection after it without another one.
type RawAnswer struct {
	Status int
	Header http.Header
	Body   string
	Closed bool
}

// SendRaw writes bytes to a gateway on a connection of their own and reads one answer.
// With Connection: close in it, or an end of file instead, the rest must be silence.
func SendRaw(t testing.TB, url, raw string) RawAnswer {
	t.Helper()
	_, place, _ := strings.Cut(url, "://")
	c := must.Get(net.Dial("tcp", place))(t)
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	go func() { _, _ = io.WriteString(c, raw) }() // the server may answer before it has read all
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("no answer to %.200q: %v", raw, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the answer to %.200q: %v", raw, err)
	}
	a := RawAnswer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Closed: resp.Close}
	for _, text := range againstDocument(url, rawExchange(raw, a)) {
		t.Error(text)
	}
	if a.Closed {
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("after the end of the connection was announced came %.200q", rest)
		}
	}
	return a
}

// rawExchange is an exchange byte by byte, as far as its request can be read.
func rawExchange(raw string, a RawAnswer) contract.Exchange {
	line, _, _ := strings.Cut(raw, "\r\n")
	method, target, _ := strings.Cut(line, " ")
	target, _, _ = strings.Cut(target, " HTTP/")
	x := contract.Exchange{Method: method, Target: target, Answer: contract.Answer{Status: a.Status, Header: a.Header, Raw: []byte(a.Body)}, Raw: true}
	if !strings.HasPrefix(target, "/") {
		x.Target = "/" + target // a form of target that no route has
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return x
	}
	if x.Body, err = io.ReadAll(req.Body); err == nil {
		x.Header = req.Header
	}
	return x
}

// RawQuestion is an authorization check that would be allowed, as bytes; extra are header lines, tail is
// what follows the head.
func (s *Scene) RawQuestion(tail string, extra ...string) string {
	return s.RawHead("POST", "/api/v1/authorize/accounts/"+s.Account+"/projects/"+s.Project+"/instances", append(s.RawIdentity(), extra...)...) + tail
}

// RawIdentity returns the header lines that name the admin as the user in question.
func (s *Scene) RawIdentity() []string {
	return []string{"X-User-ID: " + s.Admin, "X-Account-ID: " + s.Account, "X-Action: project:instance:read"}
}

// RawHead returns the head of a request with the checker's token.
func (s *Scene) RawHead(method, target string, lines ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\n%s\r\n", method, target, s.Checker, CRLF(lines))
}

// CRLF returns the lines, each with its end.
func CRLF(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\r\n")
	}
	return b.String()
}
