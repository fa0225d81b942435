//go:build nightly

package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	// perTurn is the number of calls in one turn. Each side is first in every other turn.
	perTurn = 500
	// listedTools is the number of tools in the list.
	listedTools = 500
	// The limits.
	mostCPU  = 2.0
	mostByte = 5 * time.Millisecond
	mostList = 5 * time.Millisecond
)

// sender sends one modern request again and again.
type sender struct {
	b            *testing.B
	client       *http.Client
	url, token   string
	body, method string
	name         string
}

// first sends the request. It returns the time until the first byte of the body, and all of the body.
func (s sender) first() (time.Duration, []byte) {
	s.b.Helper()
	req, err := http.NewRequestWithContext(s.b.Context(), http.MethodPost, s.url, strings.NewReader(s.body))
	if err != nil {
		s.b.Fatal(err)
	}
	h := append(modern(s.method, s.name), "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Authorization", "Bearer "+s.token)
	for i := 0; i < len(h); i += 2 {
		req.Header.Set(h[i], h[i+1])
	}
	began := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		s.b.Fatal(err)
	}
	var start [1]byte
	_, err = io.ReadFull(resp.Body, start[:])
	took := time.Since(began)
	rest, failed := io.ReadAll(resp.Body)
	if err = errors.Join(err, failed, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK || bytes.Contains(rest, []byte(`"error"`)) {
		s.b.Fatalf("%d %s %v", resp.StatusCode, rest, err)
	}
	return took, append(start[:], rest...)
}

// scriptedUpstream answers every request with the same bytes. Parts of a stream are sent one by one.
func scriptedUpstream(b *testing.B, kind string, parts ...string) string {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		for n, part := range parts {
			if n > 0 {
				time.Sleep(2 * time.Millisecond) // the first part must not wait for it
			}
			_, _ = io.WriteString(w, part)
			if len(parts) > 1 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// startQuiet starts a gateway that logs warnings alone, with the rows.
func startQuiet(b *testing.B, upstream, row string) (*harness.Gateway, string) {
	b.Helper()
	policies := policiesWith(b, row)
	g := startOn(b, upstream, policies, "--log-level", "warn")
	return g, g.Token(b, "--user", reader, "--audience", publicURL+path, "--scope", bothScopes)
}

// BenchmarkWarmCall compares the CPU time of a call through the door with that of the plain proxy.
func BenchmarkWarmCall(b *testing.B) {
	upstream := scriptedUpstream(b, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`)
	g, token := startQuiet(b, upstream, rows)
	plain, pid := startPlain(b, upstream)
	senders := map[bool]sender{
		true:  {b, &http.Client{Transport: &http.Transport{}}, g.URL + path, token, call("search_issues"), "tools/call", "search_issues"},
		false: {b, &http.Client{Transport: &http.Transport{}}, plain, token, call("search_issues"), "tools/call", "search_issues"},
	}
	pids := map[bool]int{true: g.Cmd.Process.Pid, false: pid}
	took, spent := map[bool][]time.Duration{}, map[bool]time.Duration{}
	for _, s := range senders {
		for range perTurn {
			s.first()
		}
	}
	turn := 0
	for b.Loop() {
		for _, door := range []bool{turn%2 == 0, turn%2 != 0} {
			before := harness.CPU(b, pids[door])
			for range perTurn {
				one, _ := senders[door].first()
				took[door] = append(took[door], one)
			}
			spent[door] += harness.CPU(b, pids[door]) - before
		}
		turn++
	}
	for door, name := range map[bool]string{true: "door-", false: "plain-"} {
		slices.Sort(took[door])
		b.ReportMetric(1000*ms(spent[door])/float64(len(took[door])), name+"cpu-µs")
		b.ReportMetric(1000*ms(took[door][len(took[door])/2]), name+"p50-µs")
	}
	ratio := float64(spent[true]) / float64(spent[false])
	b.ReportMetric(ratio, "cpu-ratio")
	if ratio > mostCPU {
		b.Errorf("a call through the door takes %.2f times the plain proxy's CPU, at most %.1f", ratio, mostCPU)
	}
}

// BenchmarkFirstByte compares the time until the first byte of a stream through the door with the time without it.
func BenchmarkFirstByte(b *testing.B) {
	upstream := scriptedUpstream(b, "text/event-stream",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[]}}\n\n")
	g, token := startQuiet(b, upstream, rows)
	compare(b, g, map[bool]sender{
		true:  {b, &http.Client{Transport: &http.Transport{}}, g.URL + path, token, call("search_issues"), "tools/call", "search_issues"},
		false: {b, &http.Client{Transport: &http.Transport{}}, upstream, token, call("search_issues"), "tools/call", "search_issues"},
	}, 100, mostByte)
}

// compare measures both in turns. It fails if the door's median is later by more than a limit. The tail belongs to the
// machine as well, and is reported.
func compare(b *testing.B, g *harness.Gateway, senders map[bool]sender, each int, most time.Duration) {
	b.Helper()
	took, spent := map[bool][]time.Duration{}, time.Duration(0)
	for _, s := range senders {
		for range each {
			s.first()
		}
	}
	turn := 0
	for b.Loop() {
		for _, door := range []bool{turn%2 == 0, turn%2 != 0} {
			before := harness.CPU(b, g.Cmd.Process.Pid)
			for range each {
				one, _ := senders[door].first()
				took[door] = append(took[door], one)
			}
			if door {
				spent += harness.CPU(b, g.Cmd.Process.Pid) - before
			}
		}
		turn++
	}
	b.ReportMetric(ms(spent)/float64(len(took[true])), "door-cpu-ms")
	medians := map[bool]time.Duration{}
	for door, name := range map[bool]string{true: "door-", false: "direct-"} {
		slices.Sort(took[door])
		medians[door] = took[door][len(took[door])/2]
		b.ReportMetric(ms(medians[door]), name+"p50-ms")
		b.ReportMetric(ms(took[door][len(took[door])*95/100]), name+"p95-ms")
	}
	if later := medians[true] - medians[false]; later > most {
		b.Errorf("later by %s, with %s of the gateway's CPU time; at most %s", later, spent/time.Duration(len(took[true])), most)
	}
}

// BenchmarkList measures a warm list of 500 tools, which the caller may use by half.
func BenchmarkList(b *testing.B) {
	for _, pin := range []string{"names", "definitions"} {
		b.Run(pin, func(b *testing.B) {
			list, row := manyDefinitions(b, pin)
			upstream := scriptedUpstream(b, "application/json", list)
			g, token := startQuiet(b, upstream, row)
			door := sender{b, &http.Client{Transport: &http.Transport{}}, g.URL + path, token, request("tools/list", ""), "tools/list", ""}
			if _, raw := door.first(); bytes.Count(raw, []byte(`"inputSchema"`)) != listedTools/2 {
				b.Fatalf("%.2000s", raw)
			}
			direct := door
			direct.url, direct.client = upstream, &http.Client{Transport: &http.Transport{}}
			compare(b, g, map[bool]sender{true: door, false: direct}, 20, mostList)
		})
	}
}

// manyDefinitions returns a list of tools and the rows. A reader may use every other tool.
func manyDefinitions(b *testing.B, pin string) (list, row string) {
	b.Helper()
	var all []string
	tools := map[string]any{}
	for n := range listedTools {
		text := fmt.Sprintf(`{"name":"tool_%d","title":"Tool %[1]d","description":"Searches the issues of the repository by words, labels and authors.",`+
			`"inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"words"},"page":{"type":"integer"}},"required":["q"]}}`, n)
		is, err := definition.Of([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, text)
		tool := map[string]string{"action": []string{"project:github_issue:read", "project:github_pull:merge"}[n%2], "effect": []string{"read", "write"}[n%2]}
		if pin == "definitions" {
			tool["definition"] = is
		}
		tools[fmt.Sprintf("tool_%d", n)] = tool
	}
	raw, err := json.Marshal(map[string]any{"upstream": "github", "pin": pin, "agents": "any", "consent": "not_required", "tools": tools})
	if err != nil {
		b.Fatal(err)
	}
	return `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[` + strings.Join(all, ",") + `],"ttlMs":0,"cacheScope":"private"}}`, string(raw)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
