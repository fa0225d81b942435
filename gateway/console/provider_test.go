package console_test

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAProviderThatIsDownIsAskedNowAndThen guarantees that failed sign-ins make no storm of requests. They
// work again once the provider is back.
func TestAProviderThatIsDownIsAskedNowAndThen(t *testing.T) {
	var asked int
	var document string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; document == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(document))
	}))
	defer provider.Close()
	now := time.Now()
	handler, err := console.New(console.Config{
		URL: &url.URL{Scheme: "https", Host: "console.example"}, API: http.DefaultTransport, Sessions: tlsSessions{}, Provider: &console.Provider{Issuer: provider.URL},
		IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	login := func() int {
		r := httptest.NewRequest(http.MethodPost, "https://console.example/login", http.NoBody)
		r.Header.Set("Origin", "https://console.example")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Code
	}
	for range 10 {
		if status := login(); status != http.StatusServiceUnavailable {
			t.Fatal(status)
		}
	}
	if asked != 1 {
		t.Errorf("the provider is asked %d times", asked)
	}
	document = `{"issuer":"` + provider.URL + `","authorization_endpoint":"` + provider.URL + `/a","token_endpoint":"` + provider.URL + `/t","jwks_uri":"` + provider.URL + `/k"}`
	now = now.Add(6 * time.Second)
	if status := login(); status != http.StatusOK || asked != 2 {
		t.Errorf("%d after %d requests", status, asked)
	}
}
