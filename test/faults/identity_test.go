package faults_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestFaultsOfTheIdentityProvider is that row of TestFaults. It waits for half a minute, so it begins
// before the others.
func TestFaultsOfTheIdentityProvider(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	t.Run("identity provider down: cached keys; no storm of fetches", func(t *testing.T) {
		rows{{"down after the keys were fetched", providerDown}, {"down from the start", providerDownFromTheStart}}.run(t)
	})
}

// keyHost publishes the keys of an identity provider, or is down, and counts who asks.
type keyHost struct {
	*harness.IdentityProvider
	url   string
	down  atomic.Bool
	asked atomic.Int64
}

func newKeyHost(t *testing.T) *keyHost {
	t.Helper()
	p := &keyHost{IdentityProvider: harness.NewIdentityProvider(t, "https://idp.example", "one")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.asked.Add(1)
		if p.down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(p.Jwks()))
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *keyHost) gateway(t *testing.T) *harness.Gateway {
	t.Helper()
	return harness.OutsideGateway(t, "--jwks-url", p.url+"/keys", "--jwt-issuer", p.Issuer, "--jwt-audience", p.Audience).Each()[0] // of replicas, one: each fetches for itself
}

// storm are many callers with tokens of an unknown key, beside one with a token of this status. The provider is asked
// once in 30 seconds at most.
func (p *keyHost) storm(t *testing.T, g *harness.Gateway, status int) {
	t.Helper()
	good, unknown := p.Token(t, harness.OutsideAdmin), harness.NewIdentityProvider(t, p.Issuer, "unknown").Token(t, harness.OutsideAdmin)
	before, started := p.asked.Load(), time.Now()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				if got := g.Status(t, unknown); got != 401 {
					t.Errorf("a token of an unknown key: %d", got)
				}
				if got := g.Status(t, good); got != status {
					t.Errorf("a token of the provider: %d, want %d", got, status)
				}
			}
		})
	}
	wait.Wait()
	asked, most := p.asked.Load()-before, 1+int64(time.Since(started)/(30*time.Second))
	if asked > most {
		t.Errorf("the provider was asked %d times in %s", asked, time.Since(started))
	}
	t.Logf("800 requests in %s asked the provider %d times", time.Since(started), asked)
}

// providerDown: the keys that were fetched serve on, also when it was asked for others in vain.
func providerDown(t *testing.T) {
	p := newKeyHost(t)
	g := p.gateway(t)
	harness.SoonWithin(t, time.Minute, "the keys are fetched", func() bool { return g.Status(t, p.Token(t, harness.OutsideAdmin)) == 200 })
	p.down.Store(true)
	fetched, unknown := p.asked.Load(), harness.NewIdentityProvider(t, p.Issuer, "unknown").Token(t, harness.OutsideAdmin)
	harness.SoonWithin(t, time.Minute, "the provider is asked in vain", func() bool {
		return g.Status(t, unknown) == 401 && p.asked.Load() > fetched
	})
	p.storm(t, g, 200)
}

// providerDownFromTheStart: the gateway starts, and takes no token.
func providerDownFromTheStart(t *testing.T) {
	t.Parallel()
	p := newKeyHost(t)
	p.down.Store(true)
	g := p.gateway(t)
	g.WantReady(t, 200)
	p.storm(t, g, 401)
}
