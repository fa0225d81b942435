package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// rawAnswer is what came back on a socket: the first answer, and whether the server
// closed the connection after it without another one.
type rawAnswer struct {
	Status int
	Header http.Header
	Body   string
	Closed bool
}

// rawSend writes bytes to a gateway on a connection of their own and reads one answer.
// With Connection: close in it, or an end of file instead, the rest must be silence.
func rawSend(t testing.TB, url, raw string) rawAnswer {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
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
	a := rawAnswer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Closed: resp.Close}
	for _, text := range rawExchange(url, raw, a).against() {
		t.Error(text)
	}
	if a.Closed {
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("after the end of the connection was announced came %.200q", rest)
		}
	}
	return a
}

// rawQuestion is an authorization check that would be allowed, as bytes; extra are header lines, tail is
// what follows the head.
func (s *scene) rawQuestion(tail string, extra ...string) string {
	return s.rawHead("POST", "/api/v1/authorize/accounts/"+s.Account+"/projects/"+s.Project+"/instances", append(s.rawIdentity(), extra...)...) + tail
}

func (s *scene) rawIdentity() []string {
	return []string{"X-User-ID: " + s.Admin, "X-Account-ID: " + s.Account, "X-Action: project:instance:read"}
}

func (s *scene) rawHead(method, target string, lines ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\n%s\r\n", method, target, s.Checker, crlf(lines))
}

func crlf(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\r\n")
	}
	return b.String()
}

// requestLines are the log's lines about requests with this id, or all of them for "".
func (g *gatewayProcess) requestLines(id string) []map[string]any {
	var out []map[string]any
	for line := range strings.Lines(g.stderr.String()) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) == nil && m["msg"] == "request" && (id == "" || m["request_id"] == id) {
			out = append(out, m)
		}
	}
	return out
}

// checkNothingAllowed says that no request since the mark was allowed, and that neither
// the log nor the answer shows the token. The log is complete when a later request of
// the test is in it.
func (s *scene) checkNothingAllowed(t testing.TB, before int, answers ...rawAnswer) {
	t.Helper()
	lines := s.settled(t)
	for _, m := range lines[before : len(lines)-1] {
		if m["decision"] == "allow" {
			t.Errorf("a refused request was judged: %v", m)
		}
	}
	for _, secret := range []string{s.Checker, s.AdminToken, s.Platform} {
		signature := secret[strings.LastIndex(secret, ".")+1:]
		if log := s.stderr.String() + s.stdout.String(); strings.Contains(log, signature) {
			t.Error("the log shows a token")
		}
		for _, a := range answers {
			if strings.Contains(a.Body+fmt.Sprint(a.Header), signature) {
				t.Errorf("an answer shows a token: %s", a.Body)
			}
		}
	}
}

// settled waits until the log holds everything that was answered until now, by requests of
// its own to each process, of which one is the last line of the result.
func (s *scene) settled(t testing.TB) []map[string]any {
	t.Helper()
	mark := fmt.Sprintf("mark-%d", time.Now().UnixNano())
	deadline := time.Now().Add(30 * time.Second)
	for _, p := range s.each() {
		call(t, "GET", p.URL+"/mark", "", "", "X-Request-ID", mark)
		for len(p.requestLines(mark)) == 0 {
			if time.Now().After(deadline) {
				t.Fatal("the log stands still")
			}
			call(t, "GET", p.URL+"/nudge", "", "") // each is a round trip of the log's pipe, instead of a sleep
		}
	}
	lines := s.requestLines("")
	for i, m := range slices.Backward(lines) {
		if m["request_id"] == mark {
			return lines[:i+1]
		}
	}
	t.Fatal("the mark is not in the log")
	return nil
}
