package gateway_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	credential "github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

func limiter(t testing.TB, rate string) *ratelimit.Limiter {
	t.Helper()
	r := must.Get(ratelimit.ParseRate(rate))(t)
	return ratelimit.New(ratelimit.Options{Rate: r, Now: time.Now})
}

func take(l *ratelimit.Limiter, caller string) { l.Take(context.Background(), caller, 1, time.Time{}) }

// anybody takes a token for what it says: "<id> <account>", a service's without an account.
func anybody(_ context.Context, token string) (resources.Principal, error) {
	id, account, isUser := strings.Cut(token, ".")
	p := resources.Principal{Kind: resources.PrincipalService, ID: id, Credential: resources.CredentialToken}
	if isUser {
		p.Kind, p.AccountID = resources.PrincipalUser, account
	}
	if token == badToken {
		return alice(context.Background(), token)
	}
	return p, nil
}

// as asks E3 as the bearer.
func (e *edge) as(t *testing.T, token string, headers ...string) reply {
	t.Helper()
	raw := strings.Replace(question("x", headers...), bearer, "Authorization: Bearer "+token, 1)
	return e.send(t, raw)
}

// TestEachCallerIsHeldToTheirRate: users and services apart, an account as a whole, and by
// nothing but the credential.
func TestEachCallerIsHeldToTheirRate(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Authn = authn{anybody}
		c.Rates = gateway.Rates{Principal: limiter(t, "1/h,2"), Service: limiter(t, "1/h,3"), Account: limiter(t, "1/h,5")}
	})
	for i, want := range []struct {
		token   string
		status  int
		limited string
	}{
		{"ann.acct-a-v1", 200, ""},
		{"ann.acct-a-v1", 200, ""},
		{"ann.acct-a-v1", 429, gateway.LimitPrincipal},
		{"ann.acct-a-v1", 429, gateway.LimitPrincipal},
		{"ann.acct-a-v1", 429, gateway.LimitPrincipal}, // takes nothing of the account's
		{"bob.acct-a-v1", 200, ""},
		{"bob.acct-a-v1", 200, ""},
		{"cat.acct-a-v1", 200, ""},
		{"cat.acct-a-v1", 429, gateway.LimitAccount},
		{"dan.acct-b-v1", 200, ""},
		// The account in question is not the service's.
		{"service-x", 200, ""},
		{"service-x", 200, ""},
		{"service-x", 200, ""},
		{"service-x", 429, gateway.LimitService},
		{"service-y", 200, ""},
	} {
		r := e.as(t, want.token, fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", i), fmt.Sprintf("X-Real-IP: 192.0.2.%d", i))
		if r.Status != want.status || e.last(t).Limited != want.limited {
			t.Errorf("request %d, %s: %d %s by %q, want %+v", i, want.token, r.Status, r.Body, e.last(t).Limited, want)
		}
	}
}

// TestRateIsToldInHeaders guarantees that answers of every kind have the headers of the tighter of
// two rates. Without a rate there are none.
func TestRateIsToldInHeaders(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Authn = authn{anybody}
		c.Rates = gateway.Rates{Principal: limiter(t, "60/m,3"), Account: limiter(t, "60/h,2")}
	})
	for i, want := range []struct {
		status                         int
		limit, rest, reset, retryAfter string
	}{
		{200, "2", "1", "60", ""}, {200, "2", "0", "120", ""}, {429, "2", "0", "120", "60"}, {429, "3", "0", "3", "1"},
	} {
		r := e.as(t, "ann.acct-a-v1")
		got := []string{r.Header.Get("RateLimit-Limit"), r.Header.Get("RateLimit-Remaining"), r.Header.Get("RateLimit-Reset"), r.Header.Get("Retry-After")}
		if r.Status != want.status || fmt.Sprint(got) != fmt.Sprint([]string{want.limit, want.rest, want.reset, want.retryAfter}) {
			t.Errorf("request %d: %d %q, want %+v", i, r.Status, got, want)
		}
	}
	if r := e.send(t, request("POST", "/public", "")); r.Status != 200 || r.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("a public route: %d %v", r.Status, r.Header)
	}
	if r := start(t).send(t, question("x")); r.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("without a rate: %v", r.Header)
	}
}

// TestOwedQuestionsAreTaken guarantees that a door takes the cost of its work also beyond the rate: the next call waits.
func TestOwedQuestionsAreTaken(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Rates.Principal = limiter(t, "60/m,2")
		c.Doors["authorization.check"] = streamer{func(_ context.Context, call doors.Call) (doors.Answer, error) {
			call.Rates.Owe(3)
			return doors.Answer{Status: 200, Body: []byte("{}")}, nil
		}}
	})
	if r := e.send(t, question("x")); r.Status != 200 || r.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	if r := e.send(t, question("x")); r.Status != 429 || r.Header.Get("Retry-After") != "3" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
}

// TestCallOfMoreThanARate guarantees that a call learns whether it can wait for its further questions, or has to ask for
// less: a rate of three allows two of them.
func TestCallOfMoreThanARate(t *testing.T) {
	for further, says := range map[int]string{2: "", 3: "counts as 4 requests, and the caller's rate allows at most 3 at once"} {
		e := start(t, func(c *gateway.Config) {
			c.Rates.Principal = limiter(t, "1/h,3")
			c.Doors["authorization.check"] = streamer{func(_ context.Context, call doors.Call) (doors.Answer, error) {
				return doors.Answer{Status: 200, Body: []byte("{}")}, call.Rates.Charge(further)
			}}
		})
		first, second := e.send(t, question("x")), e.send(t, question("x"))
		if got := first.Body; says == "" && first.Status != 200 || says != "" && (first.Status != 429 || !strings.Contains(got, says)) {
			t.Errorf("%d further: %d %s", further, first.Status, got)
		}
		if got := second.Body; says == "" && (second.Status != 429 || !strings.Contains(got, "wait before")) {
			t.Errorf("%d further, again: %d %s", further, second.Status, got)
		}
	}
}

// TestRefusalHasTheShapeOfItsArea.
func TestRefusalHasTheShapeOfItsArea(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Rates.Principal = limiter(t, "1/h")
		take(c.Rates.Principal, "user-alice-v1")
	})
	for want, raw := range map[string]string{
		`{"error":"Too many requests`:                            request("POST", "/api/v1/projects/proj-p-v1/walls", "{}", bearer, jsonType),
		`{"success":false,"error":{"code":"RATE_001"`:            request("PUT", "/api/v1/users/x", "{}", bearer, jsonType),
		`{"error":{"code":"RATE_LIMITED","message":"Too many re`: question("x"),
	} {
		if r := e.send(t, raw); r.Status != 429 || !strings.HasPrefix(r.Body, want) || r.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
		}
	}
}

// TestUpstreamsOwnRateIsNotMixedWithOurs.
func TestUpstreamsOwnRateIsNotMixedWithOurs(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("RateLimit-Limit", "7") }))
	defer up.Close()
	base, _ := url.Parse(up.URL)
	things := func(c *gateway.Config) { c.Upstreams["things"] = base }
	raw := request("GET", "/api/v1/projects/proj-p-v1/things/x", "", bearer)
	for want, e := range map[string]*edge{
		"7": start(t, things),
		"5": start(t, things, func(c *gateway.Config) { c.Rates.Principal = limiter(t, "5/m") }),
	} {
		if r := e.send(t, raw); r.Status != 200 || fmt.Sprint(r.Header.Values("RateLimit-Limit")) != "["+want+"]" {
			t.Errorf("%d %v, want %s", r.Status, r.Header, want)
		}
	}
}

// TestRefusedCredentialsOfAnAddressEnd: after so many nothing from there is looked at; one
// that was accepted takes nothing, and neither does none at all.
func TestRefusedCredentialsOfAnAddressEnd(t *testing.T) {
	looked := 0
	e := start(t, func(c *gateway.Config) {
		c.Rates.Failures = limiter(t, "1/h,3")
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			looked++
			return alice(ctx, token)
		}}
	})
	for range 5 {
		if r := e.send(t, question("x")); r.Status != 200 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		e.send(t, request("POST", "/api/v1/authorize/x", ""))
	}
	for i := range 10 {
		r := e.as(t, badToken, fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", i))
		if want := map[bool]int{true: 401, false: 429}[i < 3]; r.Status != want {
			t.Errorf("credential %d: %d %s, want %d", i, r.Status, r.Body, want)
		}
	}
	if r := e.send(t, question("x")); r.Status != 429 || e.last(t).Limited != gateway.LimitFailures || looked != 8 {
		t.Errorf("%d %s, %d were looked at", r.Status, r.Body, looked)
	}
	if r := e.send(t, request("POST", "/public", "")); r.Status != 200 {
		t.Errorf("a public route: %d", r.Status)
	}
}

// TestUncheckedCredentialsAreNotCounted guarantees that clients are not locked out after their identity provider was down.
// Without its keys the gateway could not check their tokens.
func TestUncheckedCredentialsAreNotCounted(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	verifier := must.Get(credential.New(credential.Options{
		Issuers: []credential.Issuer{{
			Issuer: "https://idp.example", Audience: "gateway", Subjects: credential.SubjectsExternalID,
			Keys: must.Get(credential.NewURLSource(credential.URLOptions{URL: down.URL}))(t),
		}},
		Directory: struct{ credential.Directory }{},
	}))(t)
	encoded := base64.RawURLEncoding.EncodeToString
	unchecked := encoded([]byte(`{"alg":"EdDSA","kid":"k1"}`)) + "." + encoded([]byte(`{"iss":"https://idp.example"}`)) + ".eA"
	e := start(t, func(c *gateway.Config) {
		c.Rates.Failures = limiter(t, "1/h,3")
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			if token == unchecked {
				return verifier.Verify(ctx, token)
			}
			return alice(ctx, token)
		}}
	})
	for range 5 {
		if r := e.as(t, unchecked); r.Status != 401 || e.last(t).Unauthorized != credential.ReasonNoKeys {
			t.Errorf("%d %s, for the reason %s", r.Status, r.Body, e.last(t).Unauthorized)
		}
	}
	if r := e.send(t, question("x")); r.Status != 200 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestTooManyRequestsAreShed before anything is worked out for them, in E3's own words; what
// costs nothing is answered, and the next one when there is room.
func TestTooManyRequestsAreShed(t *testing.T) {
	entered, leave := make(chan bool, 9), make(chan bool)
	looked := make(chan bool, 9)
	e := start(t, func(c *gateway.Config) {
		c.Limits.Requests = 2
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			looked <- true
			return alice(ctx, token)
		}}
		c.Handlers["access"]["list"] = func(context.Context, *wire.Request) (wire.Response, error) {
			entered <- true
			<-leave
			return wire.OK("done")
		}
	})
	list := request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer)
	done := make(chan reply)
	for range 2 {
		go func() { done <- e.send(t, list) }()
		<-entered
		<-looked
	}
	for want, raw := range map[int]string{404: request("GET", "/x", ""), 405: request("GET", "/public", "")} {
		if r := e.send(t, raw); r.Status != want {
			t.Errorf("%d %s, want %d", r.Status, r.Body, want)
		}
	}
	for want, raw := range map[string]string{
		`{"error":{"code":"UNAVAILABLE","message":"There is too much`:      list,
		`{"allowed":false,"reason":"authorization state unavailable"}`:     question("x"),
		`{"success":false,"error":{"code":"SYS_002","type":"unavailable",`: request("PUT", "/api/v1/users/x", "{}", bearer, jsonType),
	} {
		if r := e.send(t, raw); r.Status != 503 || !strings.HasPrefix(r.Body, want) || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
		}
	}
	if last := e.last(t); last.Err != nil || len(looked) > 0 {
		t.Errorf("each is an error in the log (%v), or %d credentials were looked at", last.Err, len(looked))
	}
	if g := e.Gates()["requests"]; g.Inside() != 2 || g.Refused() != 3 {
		t.Errorf("%d inside, %d refused", g.Inside(), g.Refused())
	}
	close(leave)
	for range 2 {
		if r := <-done; r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	for range 5 { // each leaves room for the next
		if r := e.send(t, question("x")); r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	if n := e.Gates()["requests"].Inside(); n != 0 {
		t.Errorf("%d are still inside", n)
	}
}

// TestUpstreamThatHangsIsInTheWayOfNobodyElse.
func TestUpstreamThatHangsIsInTheWayOfNobodyElse(t *testing.T) {
	entered, leave := make(chan bool, 9), make(chan bool)
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- true; <-leave }))
	defer up.Close()
	base, _ := url.Parse(up.URL)
	e := start(t, func(c *gateway.Config) { c.Limits.Requests, c.Upstreams["things"] = 1, base })
	things := request("GET", "/api/v1/projects/proj-p-v1/things/x", "", bearer)
	done := make(chan reply)
	go func() { done <- e.send(t, things) }()
	<-entered
	if r := e.send(t, things); r.Status != 503 || r.Header.Get("Retry-After") != "1" {
		t.Errorf("the upstream's second: %d %s", r.Status, r.Body)
	}
	if r := e.send(t, question("x")); r.Status != 200 {
		t.Errorf("a decision: %d %s", r.Status, r.Body)
	}
	close(leave)
	if r := <-done; r.Status != 200 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if r := e.send(t, things); r.Status != 200 {
		t.Errorf("when there is room again: %d %s", r.Status, r.Body)
	}
}

// TestRefusalByTheAccountIsPaidOnce by the caller it refuses: as many of theirs are refused by the
// account as their own rate has left.
func TestRefusalByTheAccountIsPaidOnce(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Rates = gateway.Rates{Principal: limiter(t, "1/h,6"), Account: limiter(t, "1/h,2")}
	})
	for i, limited := range []string{"", "", gateway.LimitAccount, gateway.LimitAccount, gateway.LimitAccount, gateway.LimitAccount, gateway.LimitPrincipal} {
		r := e.send(t, question("x"))
		if want := map[bool]int{true: 200, false: 429}[limited == ""]; r.Status != want || e.last(t).Limited != limited {
			t.Errorf("request %d: %d by %q, want %d by %q", i+1, r.Status, e.last(t).Limited, want, limited)
		}
	}
}

// TestBodiesOfAllAreBounded: those that have arrived in part count, one too many is shed with
// its connection, a short one is not, and what was held is given back.
func TestBodiesOfAllAreBounded(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Limits.Body, c.Limits.Bodies = 60_000, 100_000 })
	const target = "/api/v1/accounts/acct-a-v1/roles"
	held := func() int64 { n, _ := e.Bodies(); return n }
	var open []*link
	for range 2 {
		l := e.dial(t)
		raw := request("POST", target, strings.Repeat("x", 50_000), bearer, jsonType)
		go func() { _, _ = l.Write([]byte(raw[:len(raw)-8_000])) }()
		open = append(open, l)
	}
	waitFor(t, "the bodies did not arrive", func() bool { return held() >= 84_000 }) // all that was sent: a growing one could be refused too
	body := `"` + strings.Repeat("y", 40_000) + `"`
	r := e.send(t, request("POST", target, body, bearer, jsonType))
	if r.Status != 503 || r.Header.Get("Retry-After") != "1" || !r.Close {
		t.Errorf("one too many: %d %s %v", r.Status, r.Body, r.Header)
	}
	if r := e.send(t, request("POST", target, "{}", bearer, jsonType)); r.Status != 200 {
		t.Errorf("a short one: %d %s", r.Status, r.Body)
	}
	if _, refused := e.Bodies(); refused != 1 {
		t.Errorf("%d are counted", refused)
	}
	for _, l := range open {
		_ = l.Close()
	}
	waitFor(t, "they are still held", func() bool { return held() == 0 })
	if r := e.send(t, request("POST", target, body, bearer, jsonType)); r.Status != 200 {
		t.Errorf("when there is room: %d %s", r.Status, r.Body)
	}
}
