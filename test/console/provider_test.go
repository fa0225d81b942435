package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	clientID, clientSecret = "console-client", "a client of the tests"
	apiResource            = "https://api.example"
)

// provider is an OpenID provider that checks what it is asked, and lies on request.
type provider struct {
	t *testing.T
	*harness.IdentityProvider
	url string

	mu sync.Mutex
	// asked are the parameters of the authorization requests by the codes that answered them.
	asked map[string]url.Values
	// answer makes the answer of the token endpoint.
	answer func(w http.ResponseWriter, nonce string)
	// shown counts the token requests by their codes.
	shown map[string]int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, asked: map[string]url.Values{}, shown: map[string]int{}}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url, p.IdentityProvider = server.URL, harness.NewIdentityProvider(t, server.URL, "k1")
	p.answer = func(w http.ResponseWriter, nonce string) { p.tokens(w, p.id(nonce), p.access()) }
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.json(w, map[string]any{
			"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"EdDSA"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(p.Jwks()))
	})
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { t.Error("the client's secret went where a redirect leads") })
	return p
}

func (p *provider) json(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		p.t.Error(err)
	}
}

// tokens answers with two tokens.
func (p *provider) tokens(w http.ResponseWriter, id, access string) {
	p.json(w, map[string]any{"token_type": "Bearer", "expires_in": 3600, "id_token": id, "access_token": access})
}

// id returns an ID token; change may spoil it.
func (p *provider) id(nonce string, change ...func(jwt.MapClaims)) string {
	return p.Token(p.t, harness.OutsideAdmin, append([]func(jwt.MapClaims){func(c jwt.MapClaims) { c["aud"], c["nonce"] = clientID, nonce }}, change...)...)
}

// access returns an access token for the API; change may spoil it.
func (p *provider) access(change ...func(jwt.MapClaims)) string {
	return p.Token(p.t, harness.OutsideAdmin, change...)
}

// authorize answers an authorization request: it returns the parameters of the console's callback.
func (p *provider) authorize(target, callback string) url.Values {
	p.t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": callback, "code_challenge_method": "S256", "resource": apiResource,
	} {
		if q.Get(name) != want {
			p.t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("state")) < 20 || len(q.Get("nonce")) < 20 || q.Get("state") == q.Get("nonce") || len(q.Get("code_challenge")) != 43 {
		p.t.Errorf("%s can be guessed", u.RawQuery)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := "code-of-" + q.Get("state")
	p.asked[code] = q
	return url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.url}}
}

// token answers the token endpoint, for the client's secret and the verifier of the code's request alone.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := r.PostFormValue("code")
	p.shown[code]++
	q := p.asked[code]
	id, secret, _ := r.BasicAuth()
	user, _ := url.QueryUnescape(secret)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if q == nil || id != clientID || user != clientSecret || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || r.PostFormValue("resource") != apiResource || p.shown[code] > 1 {
		w.WriteHeader(http.StatusBadRequest)
		p.json(w, map[string]string{"error": "invalid_grant"})
		return
	}
	p.answer(w, q.Get("nonce"))
}

// consoleWith starts a gateway with a console where the provider signs people in.
func consoleWith(t *testing.T, p *provider) *harness.Gateway {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(clientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return harness.OutsideGateway(t, "--jwt-issuer", p.url, "--jwt-audience", p.Audience, "--jwks-url", p.url+"/keys", "--console-listen", "127.0.0.1:0",
		"--console-issuer", p.url, "--console-client-id", clientID, "--console-client-secret-file", file, "--console-resource", apiResource)
}

// leave presses the button of the sign-in page, and returns the address of the provider on the page that goes there.
func (b *browser) leave(returnTo string) string {
	b.t.Helper()
	got := b.post("/login", "return_to", returnTo)
	target := hrefTo(got.Body, "Go on")
	if got.Status != http.StatusOK || target == "" {
		b.t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	return target
}

// TestAnIdentityProviderSignsIn guarantees the whole way, once, and where it leads.
func TestAnIdentityProviderSignsIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	g := consoleWith(t, p)
	b := newBrowser(t, g)
	if got := b.get("/ask?user=x"); got.Header.Get("Location") != "/login?return_to=%2Fask%3Fuser%3Dx" {
		t.Error(got.Header.Get("Location"))
	}
	q := p.authorize(b.leave("/ask?user=x"), b.base+"/login/callback")
	got := b.get("/login/callback?" + q.Encode())
	if got.Status != http.StatusOK || hrefTo(got.Body, "Go on") != "/ask?user=x" || b.session() == nil {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	if got := b.get("/ask"); got.Status != http.StatusOK || !got.says(harness.OutsideAdmin) {
		t.Errorf("%d", got.Status)
	}
	if got := b.get("/login/callback?" + q.Encode()); got.Status != http.StatusForbidden {
		t.Errorf("the same answer again: %d", got.Status)
	}
	if p.shown[q.Get("code")] != 1 {
		t.Errorf("the code was shown %d times", p.shown[q.Get("code")])
	}
	if got := b.get("/login/link?code=x"); got.Status != http.StatusNotFound {
		t.Errorf("a link: %d", got.Status)
	}
	if got := b.redeem("x"); got.Status != http.StatusNotFound {
		t.Errorf("a link's form: %d", got.Status)
	}
}

// TestAnswersOfAnotherSignIn guarantees that the parameters of a callback are those of this browser's sign-in at this
// provider.
func TestAnswersOfAnotherSignIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	g := consoleWith(t, p)
	for name, spoil := range map[string]func(q url.Values, b *browser){
		"another state": func(q url.Values, _ *browser) { q.Set("state", "x") },
		"no state":      func(q url.Values, _ *browser) { q.Del("state") },
		"two states":    func(q url.Values, _ *browser) { q.Add("state", q.Get("state")) },
		"another issuer": func(q url.Values, _ *browser) {
			q.Set("iss", "https://evil.example")
		},
		"no issuer":       func(q url.Values, _ *browser) { q.Del("iss") },
		"two issuers":     func(q url.Values, _ *browser) { q.Add("iss", q.Get("iss")) },
		"a refusal":       func(q url.Values, _ *browser) { q.Set("error", "access_denied") },
		"no code":         func(q url.Values, _ *browser) { q.Del("code") },
		"another code":    func(q url.Values, _ *browser) { q.Set("code", "x") },
		"another browser": func(_ url.Values, b *browser) { *b = *newBrowser(t, g) },
		"a later sign-in": func(_ url.Values, b *browser) { b.leave("/") },
		"another's code": func(q url.Values, _ *browser) {
			q.Set("code", p.authorize(newBrowser(t, g).leave("/"), g.ConsoleURL+"/login/callback").Get("code"))
		},
		"a cookie of its own":  func(_ url.Values, b *browser) { b.useLogin("x") },
		"two cookies":          func(_ url.Values, b *browser) { b.useLogin("x", "/login/callback") },
		"a session for cookie": func(_ url.Values, b *browser) { b.useLogin(p.access()) },
	} {
		b := newBrowser(t, g)
		q := p.authorize(b.leave("/"), b.base+"/login/callback")
		spoil(q, b)
		if got := b.get("/login/callback?" + q.Encode()); got.Status != http.StatusForbidden || b.session() != nil {
			t.Errorf("%s: %d, %v", name, got.Status, b.session())
		}
	}
	if p.shown["x"] != 1 {
		t.Errorf("a code that the provider refused was shown %d times", p.shown["x"])
	}
}

// useLogin sets the cookie of a sign-in, in a folder of its own if that is given.
func (b *browser) useLogin(value string, path ...string) {
	b.t.Helper()
	base, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(base, []*http.Cookie{{Name: "portcullis-login", Value: value, Path: append(path, "/")[0]}})
}

// TestTokensThatSignNobodyIn guarantees that the ID token is of this sign-in, and the access token for the API.
func TestTokensThatSignNobodyIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	g := consoleWith(t, p)
	other := harness.NewIdentityProvider(t, p.url, "k1")
	set := func(name string, value any) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c[name] = value } }
	ended := set("exp", time.Now().Add(-time.Hour).Unix())
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, nonce string)
		want   []int
	}{
		"another nonce":  {answer: func(w http.ResponseWriter, _ string) { p.tokens(w, p.id("x"), p.access()) }},
		"no nonce":       {answer: func(w http.ResponseWriter, _ string) { p.tokens(w, p.id(""), p.access()) }},
		"another client": {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n, set("aud", "x")), p.access()) }},
		"another issuer": {answer: func(w http.ResponseWriter, n string) {
			p.tokens(w, p.id(n, set("iss", "https://x.example")), p.access())
		}},
		"an old ID token": {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n, ended), p.access()) }},
		"another key": {answer: func(w http.ResponseWriter, n string) {
			p.tokens(w, other.Token(t, "x", set("aud", clientID), set("nonce", n)), p.access())
		}},
		"no ID token": {answer: func(w http.ResponseWriter, _ string) { p.tokens(w, "", p.access()) }},
		"ID token as both": {answer: func(w http.ResponseWriter, n string) {
			id := p.id(n, set("aud", []string{clientID, p.Audience}))
			p.tokens(w, id, id)
		}},
		"an ID token":      {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), p.id(n, set("jti", "2"))) }},
		"another audience": {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), p.access(set("aud", "x"))) }},
		"an old one":       {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), p.access(ended)) }},
		"an unknown user":  {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), p.access(set("sub", "user-none-v1"))) }},
		"an agent's": {answer: func(w http.ResponseWriter, n string) {
			p.tokens(w, p.id(n), p.access(set("act", map[string]any{"sub": "helper"})))
		}},
		"an opaque one":   {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), "opaque") }},
		"no access token": {answer: func(w http.ResponseWriter, n string) { p.tokens(w, p.id(n), "") }, want: []int{http.StatusServiceUnavailable}},
		"a failure":       {answer: func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusInternalServerError) }, want: []int{http.StatusServiceUnavailable}},
		"a redirect": {answer: func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", p.url+"/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		"an endless answer": {answer: func(w http.ResponseWriter, _ string) { _, _ = w.Write(make([]byte, 4<<20)) }, want: []int{http.StatusServiceUnavailable}},
	} {
		p.mu.Lock()
		p.answer = c.answer
		p.mu.Unlock()
		b := newBrowser(t, g)
		q := p.authorize(b.leave("/"), b.base+"/login/callback")
		want := append(c.want, http.StatusForbidden)[:1]
		if got := b.get("/login/callback?" + q.Encode()); !slices.Contains(want, got.Status) || b.session() != nil {
			t.Errorf("%s: %d, %v", name, got.Status, b.session())
		}
	}
}
