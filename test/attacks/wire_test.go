package attacks_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answer is what came back on a connection: the first answer, whether the server closed the
// connection after it, and what came in between.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Closed bool
	After  string
}

// exchange writes bytes on a connection of their own and reads one answer.
func exchange(url, raw string) (answer, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	go func() { _, _ = io.WriteString(c, raw) }() // the server may answer before it has read all
	return receive(bufio.NewReader(c))
}

// receive reads one answer; after one that ends the connection nothing may come.
func receive(r *bufio.Reader) (answer, error) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Closed: resp.Close}
	if a.Closed {
		rest, _ := io.ReadAll(r) // a reset is an end too
		a.After = string(rest)
	}
	return a, nil
}

// decided is an exchange in which a decision is made. Policy has 50 ms, which a busy machine may
// need for other things: no decision in time is asked again.
func (p *program) decided(raw string) (a answer, err error) {
	for range 20 {
		if a, err = exchange(p.URL, raw); err != nil || a.Status != http.StatusServiceUnavailable {
			break
		}
	}
	return a, err
}

// inOneGo sends two requests at once on one connection. Like decided, it asks again if no decision
// was made in time.
func (p *program) inOneGo(one, other string) (first, second answer, err error) {
	for range 20 {
		if first, second, err = exchangeTwo(p.URL, one, other); err != nil || first.Status != http.StatusServiceUnavailable && second.Status != http.StatusServiceUnavailable {
			break
		}
	}
	return first, second, err
}

func exchangeTwo(url, one, other string) (first, second answer, err error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return answer{}, answer{}, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	_, _ = io.WriteString(c, one+other)
	r := bufio.NewReader(c)
	if first, err = receive(r); err == nil {
		second, err = receive(r)
	}
	return first, second, err
}

// request is the bytes of a request; lines are header lines beside Host and, where there is a
// body, Content-Length and Content-Type.
func request(method, target, body string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: gateway\r\n", method, target)
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// must is a request that has to be granted: it sets the scene.
func (p *program) must(t testing.TB, status int, method, target, token, body string, lines ...string) map[string]any {
	t.Helper()
	a, err := p.decided(request(method, target, body, append([]string{bearer(token)}, lines...)...))
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	if a.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", method, target, a.Status, a.Body, status)
	}
	var v map[string]any
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	return v
}

// wanted is a text that an answer must have.
func (w *attacksWorld) wanted(v any, path ...string) string {
	s := text(v, path...)
	if s == "" {
		w.t.Fatalf("no %v in %v", path, v)
	}
	return s
}

// text reads a string from decoded JSON, "" for none.
func text(v any, path ...string) string {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	s, _ := v.(string)
	return s
}
