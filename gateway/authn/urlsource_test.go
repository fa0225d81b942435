package authn_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// provider is an identity provider whose answer can be changed.
type provider struct {
	*httptest.Server
	calls  atomic.Int32
	answer atomic.Value // http.HandlerFunc
}

func newProvider(t *testing.T, body []byte) *provider {
	p := &provider{}
	p.publish(body)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		p.answer.Load().(http.HandlerFunc)(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) publish(body []byte) {
	p.answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
}

func (p *provider) fail(f http.HandlerFunc) { p.answer.Store(f) }

func down(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

func (p *provider) source(t *testing.T, c *clock, change ...func(*authn.URLOptions)) *authn.URLSource {
	t.Helper()
	o := authn.URLOptions{URL: p.URL + "/keys?secret=marked", Client: p.Client(), Now: c.Now}
	for _, f := range change {
		f(&o)
	}
	return must.Get(authn.NewURLSource(o))(t)
}

func unknownKid(n int) string {
	return forge(fmt.Sprintf(`{"alg":"EdDSA","kid":"unknown-%d"}`, n), claims().json(), "EdDSA", testKeys().ed)
}

func TestUnknownKidsCauseOneFetchIn30Seconds(t *testing.T) {
	c := newClock()
	p := newProvider(t, jwks(t, standardKeys()...))
	a := authenticator(t, c, issuer(p.source(t, c)))
	mustAccept(t, a, edToken(nil))
	for round := range 3 {
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				for i := range 250 {
					if _, err := a.Verify(t.Context(), unknownKid(worker*250+i)); !resources.IsKind(err, resources.KindBadCredential) {
						t.Errorf("%v", err)
					}
				}
			})
		}
		wg.Wait()
		if got := int(p.calls.Load()); got != 1+round {
			t.Fatalf("round %d: %d fetches", round, got)
		}
		c.Advance(30*time.Second - 1)
		mustRefuse(t, a, unknownKid(0))
		if got := int(p.calls.Load()); got != 1+round {
			t.Fatalf("round %d: %d fetches before the 30 seconds were over", round, got)
		}
		c.Advance(1)
	}
}

func TestNewKeyIsFoundByItsKid(t *testing.T) {
	c, k := newClock(), testKeys()
	p := newProvider(t, jwks(t, jwk("ed", "", "", k.ed.Public())))
	a := authenticator(t, c, issuer(p.source(t, c)))
	mustAccept(t, a, edToken(nil))
	p.publish(jwks(t, jwk("ed", "", "", k.ed.Public()), jwk("new", "", "", k.otherEd.Public())))
	renewed := forge(`{"alg":"EdDSA","kid":"new"}`, claims().json(), "EdDSA", k.otherEd)
	mustRefuse(t, a, renewed)
	c.Advance(30 * time.Second)
	mustAccept(t, a, renewed)
	mustAccept(t, a, edToken(nil))
}

func TestRemovedKeyIsRefusedAfterTheNextRefresh(t *testing.T) {
	for name, rest := range map[string][]byte{
		"another key":           jwks(t, jwk("new", "", "", testKeys().otherEd.Public())),
		"none":                  []byte(`{"keys":[]}`),
		"a symmetric key":       jwks(t, jwk("oct", "", "", []byte("some bytes"))),
		"the kid, another key":  jwks(t, jwk("ed", "", "", testKeys().otherEd.Public())),
		"the key, another name": jwks(t, jwk("other", "", "", testKeys().ed.Public())),
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			p := newProvider(t, jwks(t, standardKeys()...))
			s := p.source(t, c)
			a := authenticator(t, c, issuer(s))
			mustAccept(t, a, edToken(nil))
			p.publish(rest)
			mustAccept(t, a, edToken(nil))
			c.Advance(10 * time.Minute)
			must.Do(t, s.Refresh(t.Context()))
			mustRefuse(t, a, edToken(nil))
		})
	}
}

func TestIdleSourceDoesNotUseOldKeys(t *testing.T) {
	c := newClock()
	p := newProvider(t, jwks(t, standardKeys()...))
	a := authenticator(t, c, issuer(p.source(t, c)))
	token := edToken(object{"exp": start.Add(100 * time.Hour).Unix()})
	mustAccept(t, a, token)
	p.publish([]byte(`{"keys":[]}`))
	c.Advance(10*time.Minute + 31*time.Second)
	mustRefuse(t, a, token)
}

func TestProviderThatIsDown(t *testing.T) {
	token := edToken(object{"exp": start.Add(100 * time.Hour).Unix()})
	for name, broken := range map[string]http.HandlerFunc{
		"status 502": down,
		"status 500, good body": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(jwks(t, standardKeys()...))
		},
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(jwks(t, standardKeys()...), make([]byte, 1<<20)...))
		},
		"status 204": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"other host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/keys", http.StatusFound)
		},
		"other scheme": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+"/", http.StatusFound)
		},
		"loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) },
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = w.Write([]byte("{"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			p := newProvider(t, jwks(t, standardKeys()...))
			p.fail(broken)
			s := p.source(t, c)
			a := authenticator(t, c, issuer(s))
			mustRefuse(t, a, token)
			p.publish(jwks(t, standardKeys()...))
			mustRefuse(t, a, token) // no fetch within 30 seconds
			c.Advance(30 * time.Second)
			mustAccept(t, a, token)
			p.fail(broken)
			c.Advance(23 * time.Hour)
			if err := s.Refresh(t.Context()); err == nil {
				t.Error("the failure is not told")
			}
			mustAccept(t, a, token)
			c.Advance(time.Hour + time.Second)
			mustRefuse(t, a, token)
			p.publish(jwks(t, standardKeys()...))
			c.Advance(30 * time.Second)
			mustAccept(t, a, token)
		})
	}
}

// transport is a network in which every host responds.
type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func TestRedirectElsewhereIsNotFollowed(t *testing.T) {
	for location, followed := range map[string]bool{
		"https://idp.test/other":     true,
		"https://evil.test/keys":     false,
		"https://idp.test:8443/keys": false,
		"http://idp.test/keys":       false,
	} {
		c := newClock()
		client := &http.Client{Transport: transport(func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			if r.URL.String() == "https://idp.test/keys" {
				http.Redirect(w, r, location, http.StatusFound)
			} else {
				_, _ = w.Write(jwks(t, standardKeys()...))
			}
			resp := w.Result()
			resp.Request = r
			return resp
		})}
		s := must.Get(authn.NewURLSource(authn.URLOptions{URL: "https://idp.test/keys", Client: client, Now: c.Now}))(t)
		if _, err := authenticator(t, c, issuer(s)).Verify(t.Context(), edToken(nil)); (err == nil) != followed {
			t.Errorf("%s: %v", location, err)
		}
		if client.CheckRedirect != nil {
			t.Error("the caller's client was changed")
		}
	}
}

func TestCallersDoNotWaitForAProviderThatIsDownWhileKeysAreValid(t *testing.T) {
	c := newClock()
	p := newProvider(t, jwks(t, standardKeys()...))
	s := p.source(t, c, func(o *authn.URLOptions) { o.Timeout = time.Hour })
	a := authenticator(t, c, issuer(s))
	token := edToken(object{"exp": start.Add(100 * time.Hour).Unix()})
	mustAccept(t, a, token)
	p.fail(down)
	c.Advance(time.Hour)
	mustAccept(t, a, token) // waits for a fetch, which fails
	release := make(chan struct{})
	p.fail(func(http.ResponseWriter, *http.Request) { <-release })
	c.Advance(time.Minute)
	mustAccept(t, a, token) // starts a fetch that never ends
	close(release)
}

func TestFetchHasATimeout(t *testing.T) {
	c := newClock()
	release := make(chan struct{})
	p := newProvider(t, nil)
	p.fail(func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) }) // before the server waits for its handlers
	s := p.source(t, c, func(o *authn.URLOptions) { o.Timeout = time.Millisecond })
	mustRefuse(t, authenticator(t, c, issuer(s)), edToken(nil))
}

func TestCancelledCallerIsNotRefused(t *testing.T) {
	c := newClock()
	arrived, release := make(chan struct{}), make(chan struct{})
	p := newProvider(t, nil)
	p.fail(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, _ = w.Write(jwks(t, standardKeys()...))
	})
	s := p.source(t, c)
	a := authenticator(t, c, issuer(s))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := a.Verify(ctx, edToken(nil)); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%v", err)
	}
	close(release)
	mustAccept(t, a, edToken(nil)) // the fetch went on after its caller left
	if p.calls.Load() != 1 {
		t.Errorf("%d fetches", p.calls.Load())
	}
}

func TestRunRefreshesAtEachTick(t *testing.T) {
	c := newClock()
	p := newProvider(t, jwks(t, standardKeys()...))
	fetched := make(chan struct{}, 8)
	tell := func(body []byte) {
		p.fail(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body); fetched <- struct{}{} })
	}
	tell(jwks(t, standardKeys()...))
	ticks := make(chan time.Time)
	var every time.Duration
	s := p.source(t, c, func(o *authn.URLOptions) {
		o.Ticks = func(d time.Duration) (<-chan time.Time, func()) { every = d; return ticks, func() {} }
	})
	a := authenticator(t, c, issuer(s))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	<-fetched
	mustAccept(t, a, edToken(nil))
	tell([]byte(`{"keys":[]}`))
	c.Advance(10 * time.Minute)
	ticks <- c.Now()
	<-fetched
	ticks <- c.Now() // received after the fetch before it has ended
	mustRefuse(t, a, edToken(nil))
	cancel()
	<-done
	if every != 10*time.Minute || p.calls.Load() != 2 {
		t.Errorf("every %s, %d fetches", every, p.calls.Load())
	}
}

func TestBadURLSettingsAreRefused(t *testing.T) {
	for _, o := range []authn.URLOptions{
		{},
		{URL: "keys.json"},
		{URL: "file:///etc/passwd"},
		{URL: "https://"},
		{URL: "https://user:word@idp.test/keys"},
		{URL: "https://idp.test/keys#x"},
		{URL: "https://idp.test/\x00"},
	} {
		if _, err := authn.NewURLSource(o); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestLogHoldsNoTokenKeyOrQuery(t *testing.T) {
	c, k := newClock(), testKeys()
	var out strings.Builder
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &out}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	published := jwks(t, append(standardKeys(), jwk("private", "", "", k.otherEd), jwk("oct", "", "", []byte("marked-secret")), jwk("weak", "", "", k.weak.Public()))...)
	p := newProvider(t, published)
	s := p.source(t, c, func(o *authn.URLOptions) { o.Log = log })
	a := authenticator(t, c, issuer(s))
	token := edToken(nil)
	mustAccept(t, a, token)
	p.Close()
	c.Advance(time.Hour)
	if err := s.Refresh(t.Context()); err == nil {
		t.Fatal("a closed server answered")
	} else {
		log.Info("refresh", "error", err)
	}
	_, err := a.Verify(t.Context(), unknownKid(1)+"x")
	log.Info("verify", "error", err)
	text := ""
	// The fetch logs its set after it has released the callers that waited.
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(text, "publishes a secret") && time.Now().Before(deadline); runtime.Gosched() {
		mu.Lock()
		text = out.String()
		mu.Unlock()
	}
	if !strings.Contains(text, "fetch failed") || !strings.Contains(text, "publishes a secret") {
		t.Errorf("the log does not say what went wrong: %s", text)
	}
	for _, secret := range []string{
		"secret=marked", "marked-secret", b64([]byte("marked-secret")), b64(k.otherEd.Seed()), b64(k.weak.N.Bytes()),
		strings.Split(token, ".")[1], strings.Split(token, ".")[2],
	} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

type lockedWriter struct {
	mu  *sync.Mutex
	out *strings.Builder
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}
