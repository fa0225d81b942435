package mcp_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// callOnce calls the tool of the server exchange, and returns the response and its text.
func callOnce(t *testing.T, g *harness.Gateway, token string) (*http.Response, string) {
	t.Helper()
	return raw(t, g, pathOf("exchange"), token, call("search_issues"), modern("tools/call", "search_issues")...)
}

// lastAuthorization returns what the server exchange got with its last request.
func lastAuthorization(s *scripted) string {
	all := s.requests("/exchange")
	return all[len(all)-1].header.Get("Authorization")
}

// TestAnExchangeNamesCallerAndServer guarantees the parameters of RFC 8693 and RFC 8707, and those of the gateway's own
// grant. The client's secret is read for each request.
func TestAnExchangeNamesCallerAndServer(t *testing.T) {
	t.Parallel()
	s, e := newScripted(t), newEndpoint(t)
	g := startKinds(t, s, []string{"exchange"}, e.args("--exchange-resource", "exchange=https://issues.example/mcp", "--exchange-scope", "exchange=issues:read", "--exchange-scope", "exchange=x")...)
	token := tokenOf(t, g, admin, "exchange")
	waitForPins(t, g, "exchange", token)
	target := url.Values{"audience": {"https://issues.example"}, "resource": {"https://issues.example/mcp"}, "scope": {"issues:read x"}}
	grant, swap := url.Values{"grant_type": {"client_credentials"}}, url.Values{
		"grant_type": {grantExchange}, "subject_token": {token}, "subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}
	for name, values := range target {
		grant[name], swap[name] = values, values
	}
	e.mu.Lock()
	for i, form := range e.asked {
		if want := map[bool]url.Values{true: swap, false: grant}[form.Get("subject_token") != ""]; form.Encode() != want.Encode() {
			t.Errorf("the endpoint got %v, want %v", form, want)
		}
		client, _ := strings.CutPrefix(e.headers[i].Get("Authorization"), "Basic ")
		if plain, err := base64.StdEncoding.DecodeString(client); err != nil || string(plain) != "gate%3Away:"+e.secret(t) || e.headers[i].Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("the endpoint got %v: %s %v", e.headers[i], plain, err)
		}
	}
	e.mu.Unlock()
	harness.WriteFile(t, e.secretFile, "another-secret\n")
	callOnce(t, g, tokenOf(t, g, reader, "exchange"))
	e.mu.Lock()
	client, _ := strings.CutPrefix(e.headers[len(e.headers)-1].Get("Authorization"), "Basic ")
	e.mu.Unlock()
	if plain, err := base64.StdEncoding.DecodeString(client); err != nil || string(plain) != "gate%3Away:another-secret" {
		t.Errorf("after a change: %s %v", plain, err)
	}
	exchanged := len(e.exchanges())
	if err := os.Remove(e.secretFile); err != nil {
		t.Fatal(err)
	}
	before := calls(s, "exchange")
	if _, text := callOnce(t, g, g.Token(t, "--user", admin, "--audience", publicURL+pathOf("exchange"), "--scope", "mcp:read")); !strings.Contains(text, "-32603") || calls(s, "exchange") != before || len(e.exchanges()) != exchanged {
		t.Errorf("without the client's secret: %s", text)
	}
}

// TestAnExchangedTokenIsReusedForItsCallerAlone guarantees one exchange for concurrent calls, a token for each caller's
// token, and a new exchange before the end of a token and after a 401 of the server. A token without a lifetime is used once.
func TestAnExchangedTokenIsReusedForItsCallerAlone(t *testing.T) {
	t.Parallel()
	s, e := newScripted(t), newEndpoint(t)
	g := startKinds(t, s, []string{"exchange"}, e.args()...)
	waitForPins(t, g, "exchange", tokenOf(t, g, admin, "exchange"))
	held, before := make(chan struct{}), len(e.exchanges())
	e.set(func(w http.ResponseWriter, form url.Values) {
		<-held
		e.issue(w, form, nil)
	})
	readers := tokenOf(t, g, reader, "exchange")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { callOnce(t, g, readers) })
	}
	harness.Soon(t, "the endpoint is asked", func() bool { return len(e.exchanges()) > before })
	close(held)
	all.Wait()
	e.set(nil)
	if n := len(e.exchanges()) - before; n != 1 {
		t.Errorf("20 calls of one caller made %d exchanges", n)
	}
	got := map[string]string{}
	for user, token := range map[string]string{"reader": readers, "admin": tokenOf(t, g, admin, "exchange"), "admin, another token": g.Token(t, "--user", admin, "--audience", publicURL+pathOf("exchange"), "--scope", "mcp:read")} {
		for range 2 {
			callOnce(t, g, token)
			now := lastAuthorization(s)
			if got[user] != "" && got[user] != now {
				t.Errorf("%s: the second call has another token", user)
			}
			for other, token := range got {
				if other != user && token == now {
					t.Errorf("%s and %s share a token", user, other)
				}
			}
			got[user] = now
		}
	}
	before = len(e.exchanges())
	s.answerCalls(http.StatusUnauthorized, "")
	callOnce(t, g, readers)
	s.answerCalls(0, "")
	if _, text := callOnce(t, g, readers); !strings.Contains(text, "done") || len(e.exchanges()) != before+1 || lastAuthorization(s) == got["reader"] {
		t.Errorf("after a 401 of the server, %d exchanges: %s", len(e.exchanges())-before, text)
	}
	for name, c := range map[string]struct {
		change map[string]any
		scope  string
	}{
		"no lifetime": {map[string]any{"expires_in": nil}, "mcp:read a"}, "the margin": {map[string]any{"expires_in": 10}, "mcp:read b"},
	} {
		e.set(func(w http.ResponseWriter, form url.Values) { e.issue(w, form, c.change) })
		token, before := g.Token(t, "--user", admin, "--audience", publicURL+pathOf("exchange"), "--scope", c.scope), len(e.exchanges())
		for range 3 {
			if _, text := callOnce(t, g, token); !strings.Contains(text, "done") {
				t.Errorf("%s: %s", name, text)
			}
		}
		if n := len(e.exchanges()) - before; n != 3 {
			t.Errorf("%s: three calls made %d exchanges", name, n)
		}
	}
	e.set(func(w http.ResponseWriter, form url.Values) { e.issue(w, form, map[string]any{"expires_in": 12}) })
	short, before := g.Token(t, "--user", admin, "--audience", publicURL+pathOf("exchange"), "--scope", "mcp:read c"), len(e.exchanges())
	harness.Soon(t, "a token is exchanged anew before its end", func() bool {
		callOnce(t, g, short)
		return len(e.exchanges()) >= before+2
	})
}

// TestARefusedExchangeReachesNoServer guarantees a denial if the authorization server refuses the caller or the target,
// and else -32603 with Retry-After. The server is not called, and no log or answer has a token.
func TestARefusedExchangeReachesNoServer(t *testing.T) {
	t.Parallel()
	s, e, elsewhere := newScripted(t), newEndpoint(t), newScripted(t)
	g := startKinds(t, s, []string{"exchange"}, e.args()...)
	waitForPins(t, g, "exchange", tokenOf(t, g, admin, "exchange"))
	token := tokenOf(t, g, reader, "exchange")
	answer := func(status int, body string, headers ...string) func(http.ResponseWriter, url.Values) {
		return func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	issue := func(change map[string]any) func(http.ResponseWriter, url.Values) {
		return func(w http.ResponseWriter, form url.Values) { e.issue(w, form, change) }
	}
	before := calls(s, "exchange")
	for name, c := range map[string]struct {
		respond func(http.ResponseWriter, url.Values)
		denied  bool
	}{
		// The log masks tokens in the form of a JWT by itself, so responses repeat swapped-x.
		"invalid_grant":               {answer(400, `{"error":"invalid_grant","error_description":"swapped-x"}`), true},
		"invalid_target":              {answer(400, `{"error":"invalid_target"}`), true},
		"invalid_request":             {answer(400, `{"error":"invalid_request"}`), true},
		"invalid_client":              {answer(401, `{"error":"invalid_client"}`), false},
		"unauthorized_client":         {answer(400, `{"error":"unauthorized_client"}`), false},
		"invalid_grant with 503":      {answer(503, `{"error":"invalid_grant"}`), false},
		"invalid_grant with 200":      {answer(200, `{"error":"invalid_grant","access_token":"swapped-x","token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`), false},
		"the token as a code":         {answer(400, `{"error":"swapped-x"}`), false},
		"the token as a page":         {answer(500, "swapped-x"), false},
		"a redirect":                  {answer(302, "", "Location", elsewhere.url), false},
		"a redirect with the body":    {answer(307, "", "Location", elsewhere.url), false},
		"nothing":                     {answer(200, ""), false},
		"no JSON":                     {answer(200, "swapped-x"), false},
		"a large body":                {answer(200, `{"a":"`+strings.Repeat("a", 2<<20)+`","access_token":"swapped-x","token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`), false},
		"no token":                    {issue(map[string]any{"access_token": nil}), false},
		"an empty token":              {issue(map[string]any{"access_token": ""}), false},
		"the caller's token":          {issue(map[string]any{"access_token": token}), false},
		"two words":                   {issue(map[string]any{"access_token": "swapped-a b"}), false},
		"two headers":                 {issue(map[string]any{"access_token": "swapped-a\r\nX-User-ID: " + admin}), false},
		"a long token":                {issue(map[string]any{"access_token": strings.Repeat("a", 9000)}), false},
		"no type":                     {issue(map[string]any{"token_type": nil}), false},
		"a token of another type":     {issue(map[string]any{"token_type": "DPoP"}), false},
		"no access token":             {issue(map[string]any{"token_type": "N_A"}), false},
		"an issued token of no type":  {issue(map[string]any{"issued_token_type": nil}), false},
		"a refresh token":             {issue(map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:refresh_token"}), false},
		"an ended token":              {issue(map[string]any{"expires_in": -1}), false},
		"a broken connection":         {func(http.ResponseWriter, url.Values) { panic(http.ErrAbortHandler) }, false},
		"a form instead of JSON":      {answer(200, "access_token=swapped-x&token_type=Bearer", "Content-Type", "text/plain"), false},
		"a status line with the body": {hijacked("HTTP/1.1 swapped-x\r\n\r\n"), false},
	} {
		e.set(c.respond)
		resp, text := callOnce(t, g, token)
		says, retry := map[bool]string{true: `"code":"exchange_refused"`, false: "-32603"}[c.denied], map[bool]string{false: "1"}[c.denied]
		if resp.StatusCode != 200 || !strings.Contains(text, says) || strings.Contains(text, "-32001") != c.denied || resp.Header.Get("Retry-After") != retry {
			t.Errorf("%s: %d %v %s", name, resp.StatusCode, resp.Header, text)
		}
		if strings.Contains(text, token) || strings.Contains(text, "swapped-") {
			t.Errorf("%s: the answer has a token: %s", name, text)
		}
	}
	if n := calls(s, "exchange"); n != before || len(elsewhere.requests("")) > 0 {
		t.Errorf("the server was called %d times, others %d times", n-before, len(elsewhere.requests("")))
	}
	harness.Soon(t, "the log names the refusals", func() bool {
		log := g.Stderr.String()
		return strings.Contains(log, "400, invalid_target") && strings.Contains(log, "401, invalid_client")
	})
	log := g.Stderr.String()
	for _, hidden := range append(e.tokens(), token, "swapped-x", e.secret(t)) {
		if strings.Contains(log, hidden) {
			t.Errorf("the log has %.30s", hidden)
		}
	}
}

// hijacked answers with these bytes.
func hijacked(text string) func(http.ResponseWriter, url.Values) {
	return func(w http.ResponseWriter, _ url.Values) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
}

// TestEachMethodNeedsItsExchange guarantees that no message, list, stream or end of a session reaches the server without
// an exchanged token. A slow endpoint ends within its deadline.
func TestEachMethodNeedsItsExchange(t *testing.T) {
	t.Parallel()
	s, e := newScripted(t), newEndpoint(t)
	g := startKinds(t, s, []string{"exchange"}, e.args()...)
	token := tokenOf(t, g, admin, "exchange")
	waitForPins(t, g, "exchange", token)
	resp, _ := raw(t, g, pathOf("exchange"), token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	other := g.Token(t, "--user", admin, "--audience", publicURL+pathOf("exchange"), "--scope", bothScopes+" x") // of the same caller
	callers := func() []seen {
		return slices.DeleteFunc(s.requests("/exchange"), func(one seen) bool { return strings.Contains(one.body, `"name":"portcullis"`) })
	}
	before := len(callers())
	stop := make(chan struct{})
	for name, c := range map[string]struct {
		respond func(http.ResponseWriter, url.Values)
		status  int
	}{
		"denied": {func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		}, 403},
		"slow": {func(http.ResponseWriter, url.Values) {
			select {
			case <-stop:
			case <-time.After(30 * time.Second):
			}
		}, 503},
	} {
		e.set(c.respond)
		began := time.Now()
		methods, bodies := []string{http.MethodGet, http.MethodDelete}, []string{legacyStart, legacyList, legacyCall, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
		if name == "slow" {
			methods, bodies = methods[:1], bodies[2:3] // each takes the whole deadline
		}
		for _, method := range methods {
			if status := send(t, method, g.URL+pathOf("exchange"), other, "", session); status != c.status {
				t.Errorf("%s, %s: %d", name, method, status)
			}
		}
		for _, body := range bodies {
			_, text := raw(t, g, pathOf("exchange"), other, body, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")
			if want := map[int]string{403: "exchange_refused", 503: "-32603"}[c.status]; !strings.Contains(text, want) {
				t.Errorf("%s, %s: %s", name, body, text)
			}
		}
		if name == "slow" {
			close(stop)
			if took := time.Since(began); took > 30*time.Second { // two calls of 5 seconds
				t.Errorf("two calls at a slow endpoint took %s", took)
			}
		}
	}
	if all := callers(); len(all) != before {
		t.Errorf("the server got %v", all[before:])
	}
}

// TestARevokedCallersTokenIsNotUsed guarantees that an exchanged token in the cache serves no call of a suspended user. A
// caller without a token gets none.
func TestARevokedCallersTokenIsNotUsed(t *testing.T) {
	t.Parallel()
	s, e := newScripted(t), newEndpoint(t)
	g := startKinds(t, s, []string{"exchange"}, e.args()...)
	token := tokenOf(t, g, reader, "exchange")
	waitForPins(t, g, "exchange", token)
	admins := g.UserToken(t, admin)
	key := harness.Call(t, "POST", g.URL+"/api/v1/accounts/"+account+"/users/"+admin+"/keys", admins, `{"key_name":"k","scopes":["read","write"]}`)
	secret, _ := harness.At(key.Body, "data", "raw_key").(string)
	if key.Status != 201 || secret == "" {
		t.Fatalf("%d %s", key.Status, key.Raw)
	}
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+reader, admins, `{"status": "SUSPENDED"}`, "x-account-id", account); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	called, exchanged := calls(s, "exchange"), len(e.exchanges())
	for name, c := range map[string]struct {
		token   string
		headers []string
	}{
		"a suspended user": {token, nil}, "an API key": {secret, nil}, "an API key in its header": {"", []string{"X-API-Key", secret}},
		"an API key beside a token": {tokenOf(t, g, admin, "exchange"), []string{"X-API-Key", secret}}, "nobody": {"", nil},
	} {
		resp, text := raw(t, g, pathOf("exchange"), c.token, call("search_issues"), slices.Concat(modern("tools/call", "search_issues"), c.headers)...)
		if resp.StatusCode != 401 {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	if calls(s, "exchange") != called || len(e.exchanges()) != exchanged {
		t.Error(fmt.Sprint("a refused caller reached the server or the endpoint: ", e.exchanges()[exchanged:]))
	}
}
