package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// RequestLines are the log's lines about requests with this id, or all of them for "".
func (g *Gateway) RequestLines(id string) []map[string]any {
	var out []map[string]any
	for line := range strings.Lines(g.Stderr.String()) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) == nil && m["msg"] == "request" && (id == "" || m["request_id"] == id) {
			out = append(out, m)
		}
	}
	return out
}

// CheckNothingAllowed checks that no request since the mark was allowed. Neither the log nor the
// answer may show the token. The log is complete when a later request of the test is in it.
func (s *Scene) CheckNothingAllowed(t testing.TB, before int, answers ...RawAnswer) {
	t.Helper()
	lines := s.Settled(t)
	for _, m := range lines[before : len(lines)-1] {
		if m["decision"] == "allow" {
			t.Errorf("a refused request was judged: %v", m)
		}
	}
	for _, secret := range []string{s.Checker, s.AdminToken, s.Platform} {
		signature := secret[strings.LastIndex(secret, ".")+1:]
		if log := s.Stderr.String() + s.Stdout.String(); strings.Contains(log, signature) {
			t.Error("the log shows a token")
		}
		for _, a := range answers {
			if strings.Contains(a.Body+fmt.Sprint(a.Header), signature) {
				t.Errorf("an answer shows a token: %s", a.Body)
			}
		}
	}
}

// Settled waits until the log holds everything answered until now. It sends requests of its own to
// each process; one of them is the last line of the result.
func (s *Scene) Settled(t testing.TB) []map[string]any {
	t.Helper()
	mark := fmt.Sprintf("mark-%d", time.Now().UnixNano())
	deadline := time.Now().Add(30 * time.Second)
	for _, p := range s.Each() {
		Call(t, "GET", p.URL+"/mark", "", "", "X-Request-ID", mark)
		for len(p.RequestLines(mark)) == 0 {
			if time.Now().After(deadline) {
				t.Fatal("the log stands still")
			}
			Call(t, "GET", p.URL+"/nudge", "", "") // each is a round trip of the log's pipe, instead of a sleep
		}
	}
	lines := s.RequestLines("")
	for i, m := range slices.Backward(lines) {
		if m["request_id"] == mark {
			return lines[:i+1]
		}
	}
	t.Fatal("the mark is not in the log")
	return nil
}
