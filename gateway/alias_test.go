package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// seen is what was kept of one request.
type seen struct {
	request  wire.Request
	question resources.Question
	token    string
}

// TestNothingKeptFromARequestChanges: the server reads the next request of a
// connection into the same memory. A handler, policy or the log keeps copies of its own only.
func TestNothingKeptFromARequestChanges(t *testing.T) {
	var kept []seen
	var current seen
	e := start(t, func(c *gateway.Config) {
		c.Authn = authn{func(_ context.Context, token string) (resources.Principal, error) {
			current = seen{token: token}
			return resources.Principal{Kind: resources.PrincipalUser, ID: strings.TrimPrefix(token, "token-"), Credential: resources.CredentialToken}, nil
		}}
		keep := func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			current.question = q
			return allow(ctx, q)
		}
		c.Judge.Pin = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			d, err := keep(ctx, q)
			kept = append(kept, current)
			return d, err
		}, keep}.pin()
		c.Handlers["access"]["create"] = func(_ context.Context, r *wire.Request) (wire.Response, error) {
			current.request = *r
			kept = append(kept, current)
			return wire.OK(r.Params)
		}
	})
	l := e.dial(t)
	const rounds = 50
	id := func(i int) string { return fmt.Sprintf("%c%04d", 'a'+i%26, i) }
	for i := range rounds {
		x := id(i)
		raw := request("POST", "/api/v1/accounts/acct-"+x+"/roles?q="+x, `{"v":"`+x+`"}`, "Authorization: Bearer token-user-"+x, jsonType, "X-Request-ID: rid-"+x, "Idempotency-Key: key-"+x)
		if i%2 == 1 {
			raw = request("POST", "/api/v1/authorize/accounts/acct-"+x+"/things/t-"+x, "", "Authorization: Bearer token-user-"+x, "X-User-ID: user-"+x, "X-Account-ID: acct-"+x, "X-Action: account:a"+x+":read", "X-Request-ID: rid-"+x)
		}
		if r := l.send(t, raw); r.Status != 200 || r.Header.Get("X-Request-ID") != "rid-"+x {
			t.Fatalf("%d %s %v", r.Status, r.Body, r.Header)
		}
		l.send(t, request("DELETE", "/"+strings.Repeat("y", 200), "", "X-Request-ID: between")) // writes over the same memory
	}
	if len(kept) != rounds {
		t.Fatalf("%d kept", len(kept))
	}
	for i, k := range kept {
		checkKept(t, i, id(i), k, e.records[2*i])
	}
}

// checkKept holds what was kept of request i to its mark x.
func checkKept(t *testing.T, i int, x string, k seen, record gateway.Record) {
	t.Helper()
	checks := map[string]string{
		k.token: "token-user-" + x, k.question.Principal.ID: "user-" + x, k.question.AccountID: "acct-" + x, k.question.Target.AccountID: "acct-" + x,
		record.RequestID: "rid-" + x, record.Principal: "user-" + x, record.Account: "acct-" + x, record.Method: "POST",
	}
	if i%2 == 0 {
		checks[k.request.Params["accountId"]] = "acct-" + x
		checks[k.request.Query], checks[string(k.request.Body)] = "q="+x, `{"v":"`+x+`"}`
		checks[k.request.RequestID], checks[k.request.Principal.ID] = "rid-"+x, "user-"+x
		checks[k.request.Path], checks[k.request.IdempotencyKey] = "/api/v1/accounts/acct-"+x+"/roles", "key-"+x
	} else {
		checks[k.question.Action.ID], checks[k.question.Target.Rest] = "account:a"+x+":read", "things/t-"+x
		checks[k.question.Facts.Subject.UserID] = "user-" + x
		checks[record.Path] = "/api/v1/authorize/accounts/acct-" + x + "/things/t-" + x
	}
	for got, want := range checks {
		if got != want {
			t.Errorf("request %d: what was kept as %q reads %q", i, want, got)
		}
	}
}

// TestIdentityEndsWithItsRequest: on one connection, a request without a credential
// after one with it is nobody's, and one without headers has none.
func TestIdentityEndsWithItsRequest(t *testing.T) {
	var last resources.Question
	e := start(t, func(c *gateway.Config) {
		c.Judge.Pin = policy{allow, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			last = q
			return allow(ctx, q)
		}}.pin()
	})
	l := e.dial(t)
	for range 3 {
		if r := l.send(t, question("x")); r.Status != 200 {
			t.Fatal(r.Status)
		}
		if r := l.send(t, request("POST", "/api/v1/authorize/x", "")); r.Status != 401 || e.last(t).Principal != "" {
			t.Errorf("no credential: %d %+v", r.Status, e.last(t))
		}
		if r := l.send(t, request("POST", "/api/v1/authorize/x", "", bearer)); r.Status != 400 || len(details(t, r.Body)) != 3 {
			t.Errorf("no headers: %d %s", r.Status, r.Body)
		}
		if r := l.send(t, request("POST", "/public", "")); r.Status != 200 || last.Principal.Kind != resources.PrincipalNone || last.Principal.ID != "" {
			t.Errorf("a public route: %d %+v", r.Status, last.Principal)
		}
	}
}
