package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/gateway/client/clienttest"
)

// ada is a caller with every field set.
func ada() client.Caller {
	return client.Caller{
		ID: "user-a-v1", Kind: "user", UUID: "uuid", AccountID: "acct-a-v1", Credential: client.CredentialKey, KeyID: "apikey-a-v1",
		Scopes: []string{"x"}, KeyScopes: []string{"read"}, Account: "acct-b-v1", Action: "project:widget:create",
	}
}

const body = `{"a":1}`

// arrived is the request as the service gets it.
func arrived() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/widgets?a=b", strings.NewReader(body))
	r.Header.Set("Idempotency-Key", "k")
	return r
}

// creates is the action of arrived.
func creates(*http.Request) string { return "project:widget:create" }

func verifier(t *testing.T, o client.VerifierOptions) *client.Verifier {
	t.Helper()
	o.Audience = "widgets"
	if o.Action == nil {
		o.Action = creates
	}
	v, err := client.NewVerifier(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCallerArrives(t *testing.T) {
	g := clienttest.New(t)
	r := arrived()
	g.Assert(t, r, "widgets", ada(), []byte(body))
	got, err := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL}).Verify(t.Context(), r, []byte(body))
	if err != nil || !reflect.DeepEqual(got, ada()) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAssertionOfAnotherActionIsRefused guarantees it for one without an action, too. Without the expected action there
// is no verifier.
func TestAssertionOfAnotherActionIsRefused(t *testing.T) {
	g := clienttest.New(t)
	for _, c := range []struct{ said, wanted string }{
		{"project:widget:create", "project:widget:create"},
		{"", ""},
		{"project:widget:read", "project:widget:create"},
		{"", "project:widget:create"},
		{"project:widget:create", ""},
		{"project:widget:create", "Project:widget:create"},
	} {
		r, caller := arrived(), ada()
		caller.Action = c.said
		g.Assert(t, r, "widgets", caller, []byte(body))
		v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL, Action: func(request *http.Request) string {
			if request != r {
				t.Error("the action of another request")
			}
			return c.wanted
		}})
		if got, err := v.Verify(t.Context(), r, []byte(body)); (err == nil) != (c.said == c.wanted) || err != nil && (!errors.Is(err, client.ErrAssertion) || got.ID != "") {
			t.Errorf("said %q, wanted %q: %+v, %v", c.said, c.wanted, got, err)
		}
	}
	if v, err := client.NewVerifier(client.VerifierOptions{KeysURL: g.KeysURL, Audience: "widgets"}); err == nil || v != nil {
		t.Error("a verifier that expects no action")
	}
}

// TestAssertionWithoutABodyIsRefusedWhereItIsWanted: else anybody could put another body behind it.
func TestAssertionWithoutABodyIsRefusedWhereItIsWanted(t *testing.T) {
	g := clienttest.New(t)
	drop := func(_, claims map[string]any) { delete(claims, "body_sha256") }
	for _, wanted := range []bool{false, true} {
		v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL, WithBody: wanted})
		r := arrived()
		g.Assert(t, r, "widgets", ada(), nil, drop)
		if _, err := v.Verify(t.Context(), r, []byte("any")); (err == nil) == wanted {
			t.Errorf("wanted %v: %v", wanted, err)
		}
		g.Assert(t, r, "widgets", ada(), []byte(body))
		if _, err := v.Verify(t.Context(), r, []byte(body)); err != nil {
			t.Errorf("with its body, wanted %v: %v", wanted, err)
		}
	}
}

func TestWhatTheGatewayDidNotSayIsRefused(t *testing.T) {
	g := clienttest.New(t)
	other := clienttest.New(t)
	v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL})
	type change = func(header, claims map[string]any)
	claim := func(name string, value any) change { return func(_, claims map[string]any) { claims[name] = value } }
	head := func(name string, value any) change { return func(header, _ map[string]any) { header[name] = value } }
	now := time.Now().Unix()
	for name, spoil := range map[string]change{
		"another issuer": claim("iss", "portcullis"), "another service": claim("aud", []string{"gadgets"}), "two services": claim("aud", []string{"widgets", "gadgets"}),
		"over": claim("exp", now-10), "too long": claim("exp", now+3600), "without an end": claim("exp", nil), "without a begin": claim("iat", nil),
		"of tomorrow":    func(_, c map[string]any) { c["iat"], c["exp"] = now+60, now+80 },
		"another method": claim("method", "PUT"), "another target": claim("target_sha256", "x"), "another body": claim("body_sha256", "x"),
		"another key": claim("idempotency_key_sha256", "x"), "another request": claim("request_id", "x"), "no request": claim("request_id", nil),
		"alg none": head("alg", "none"), "an HMAC": head("alg", "HS256"), "an access token": head("typ", "JWT"), "another key id": head("kid", "x"), "critical": head("crit", []string{"x"}),
	} {
		t.Run(name, func(t *testing.T) {
			r := arrived()
			g.Assert(t, r, "widgets", ada(), []byte(body), spoil)
			if got, err := v.Verify(t.Context(), r, []byte(body)); err == nil || got.ID != "" {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
	for name, change := range map[string]func(r *http.Request){
		"none":             func(r *http.Request) { r.Header.Del(client.AssertionHeader) },
		"twice":            func(r *http.Request) { r.Header.Add(client.AssertionHeader, r.Header.Get(client.AssertionHeader)) },
		"key added":        func(r *http.Request) { r.Header.Add("Idempotency-Key", "k2") },
		"a line break":     func(r *http.Request) { r.Header.Set(client.AssertionHeader, r.Header.Get(client.AssertionHeader)+"\n") },
		"another gateway":  func(r *http.Request) { other.Assert(t, r, "widgets", ada(), []byte(body)) },
		"another path":     func(r *http.Request) { r.RequestURI = "/widgets?a=c" },
		"another request":  func(r *http.Request) { r.Header.Set("X-Request-ID", "r-2") },
		"without a method": func(r *http.Request) { r.Method = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r := arrived()
			g.Assert(t, r, "widgets", ada(), []byte(body))
			change(r)
			if got, err := v.Verify(t.Context(), r, []byte(body)); err == nil || got.ID != "" {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
}

func TestBehindHandsOnWhatTheGatewayLetIn(t *testing.T) {
	g := clienttest.New(t)
	v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL})
	got := ""
	h := v.Behind(16, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		caller, ok := client.CallerOf(r.Context())
		raw, _ := io.ReadAll(r.Body)
		if got = caller.ID + " " + string(raw); !ok {
			t.Error("there is no caller")
		}
	}))
	send := func(r *http.Request) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if status := send(arrived()); status != http.StatusUnauthorized || got != "" {
		t.Errorf("without an assertion: %d", status)
	}
	r := arrived()
	r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", 17)))
	if status := send(r); status != http.StatusRequestEntityTooLarge || got != "" {
		t.Errorf("a large body: %d", status)
	}
	r = arrived()
	g.Assert(t, r, "widgets", ada(), []byte(body))
	if status := send(r); status != http.StatusOK || got != "user-a-v1 "+body {
		t.Errorf("%d, %q", status, got)
	}
}

// held is a transport whose answers wait for release.
type held struct{ asked, release chan struct{} }

func (h held) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked <- struct{}{}
	<-h.release
	return http.DefaultTransport.RoundTrip(r)
}

// TestKeysArriveThoughWhoAskedHasLeft guarantees that a fetch of keys outlives its first caller: the next caller gets
// the keys.
func TestKeysArriveThoughWhoAskedHasLeft(t *testing.T) {
	g := clienttest.New(t)
	gate := held{make(chan struct{}, 1), make(chan struct{})}
	v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL, Transport: gate})
	r := arrived()
	g.Assert(t, r, "widgets", ada(), []byte(body))
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = v.Verify(ctx, r, []byte(body))
	}()
	<-gate.asked
	leave()
	close(gate.release)
	<-gone
	if _, err := v.Verify(t.Context(), r, []byte(body)); err != nil {
		t.Error(err)
	}
}

// keysNamed returns the gateway's keys under another id.
func keysNamed(t *testing.T, g *clienttest.Gateway, id string) []byte {
	t.Helper()
	r, err := http.Get(g.KeysURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var keys struct {
		Keys []map[string]string `json:"keys"`
	}
	if err := json.NewDecoder(r.Body).Decode(&keys); err != nil || len(keys.Keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys.Keys), err)
	}
	keys.Keys[0]["kid"] = id
	raw, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestNewKeyIsWaitedFor: while the keys are fetched for one request, and where they can't be had, the key of another
// one is not unknown.
func TestNewKeyIsWaitedFor(t *testing.T) {
	g := clienttest.New(t)
	answers, fetching := make(chan []byte, 1), make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetching <- struct{}{}
		if answer := <-answers; answer != nil {
			_, _ = w.Write(answer)
		} else {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	var later atomic.Int64
	begun := time.Now()
	v := verifier(t, client.VerifierOptions{KeysURL: server.URL, Now: func() time.Time { return begun.Add(time.Duration(later.Load())) }})
	verify := func(id string) error {
		r := arrived()
		g.Assert(t, r, "widgets", ada(), []byte(body), func(header, _ map[string]any) { header["kid"] = id })
		_, err := v.Verify(t.Context(), r, []byte(body))
		return err
	}
	answers <- keysNamed(t, g, "before")
	if err := verify("before"); err != nil {
		t.Fatal(err)
	}
	<-fetching

	later.Add(int64(6 * time.Second))
	answers <- nil
	for range 2 { // the second one asks nobody
		if err := verify("after"); !errors.Is(err, client.ErrKeys) {
			t.Errorf("while the gateway is away: %v", err)
		}
	}
	if err := verify("before"); err != nil {
		t.Errorf("a key that is known: %v", err)
	}
	<-fetching

	later.Add(int64(6 * time.Second))
	after := keysNamed(t, g, "after")
	results := make(chan error, 2)
	go func() { results <- verify("after") }()
	<-fetching
	go func() { results <- verify("after") }()
	time.AfterFunc(50*time.Millisecond, func() { answers <- after }) // the second one has begun
	for range 2 {
		if err := <-results; err != nil {
			t.Errorf("while the keys are fetched: %v", err)
		}
	}
}

// TestKeysAreFetchedSeldom guarantees few fetches for unknown key ids, and that a rotated key is found. Keys outlive
// the gateway's absence, but not their end.
func TestKeysAreFetchedSeldom(t *testing.T) {
	g := clienttest.New(t)
	var fetched atomic.Int32
	now := time.Now()
	v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL, Transport: counting{&fetched}, Now: func() time.Time { return now }})
	ask := func(spoil ...func(header, claims map[string]any)) error {
		r := arrived()
		times := func(_, c map[string]any) { c["iat"], c["exp"] = now.Unix(), now.Unix()+30 }
		g.Assert(t, r, "widgets", ada(), []byte(body), append(spoil, times)...)
		_, err := v.Verify(t.Context(), r, []byte(body))
		return err
	}
	unknown := func(h, _ map[string]any) { h["kid"] = "x" }
	for range 100 {
		if ask(unknown) == nil || ask() != nil {
			t.Fatal("the wrong one was accepted")
		}
	}
	if n := fetched.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
	now = now.Add(6 * time.Second)
	if _ = ask(unknown); fetched.Load() != 2 {
		t.Error("an unknown key is looked for once only")
	}
	g.Fail(500, 500, 500)
	now = now.Add(11 * time.Minute)
	if err := ask(); err != nil || fetched.Load() != 3 {
		t.Errorf("while the gateway is away: %v", err)
	}
	now = now.Add(time.Hour)
	if err := ask(); err == nil {
		t.Error("the keys have no end")
	}
	now = now.Add(10 * time.Second)
	_ = ask() // fails a last time
	now = now.Add(10 * time.Second)
	if err := ask(); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}
