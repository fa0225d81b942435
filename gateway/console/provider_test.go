package console_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
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

// plainSessions seals nothing.
type plainSessions struct{ tlsSessions }

func (plainSessions) Seal(value []byte, _ string) string {
	return base64.RawURLEncoding.EncodeToString(value)
}

func (plainSessions) Open(sealed, _ string) ([]byte, bool) {
	value, err := base64.RawURLEncoding.DecodeString(sealed)
	return value, err == nil
}

// TestALateAnswerSignsNobodyIn guarantees that the console exchanges no code more than ten minutes after the sign-in began.
func TestALateAnswerSignsNobodyIn(t *testing.T) {
	exchanged := 0
	var provider *httptest.Server
	provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/t" {
			exchanged++
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"issuer":"` + provider.URL + `","authorization_endpoint":"` + provider.URL + `/a","token_endpoint":"` + provider.URL + `/t","jwks_uri":"` + provider.URL + `/k"}`))
	}))
	defer provider.Close()
	for wait, want := range map[time.Duration]int{9 * time.Minute: 1, 10 * time.Minute: 0} {
		now := time.Now()
		exchanged = 0
		handler, err := console.New(console.Config{
			URL: &url.URL{Scheme: "https", Host: "console.example"}, API: http.DefaultTransport, Sessions: plainSessions{}, Provider: &console.Provider{Issuer: provider.URL},
			IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		begin := httptest.NewRequest(http.MethodPost, "https://console.example/login", http.NoBody)
		begin.Header.Set("Origin", "https://console.example")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, begin)
		cookies := w.Result().Cookies()
		if len(cookies) != 1 {
			t.Fatal(w.Code, cookies)
		}
		raw, _ := plainSessions{}.Open(cookies[0].Value, "")
		var login struct{ State string }
		if err := json.Unmarshal(raw, &login); err != nil {
			t.Fatal(err)
		}
		now = now.Add(wait)
		callback := httptest.NewRequest(http.MethodGet, "https://console.example/login/callback?code=c&state="+login.State, http.NoBody)
		callback.AddCookie(cookies[0])
		w = httptest.NewRecorder()
		if handler.ServeHTTP(w, callback); w.Code != http.StatusForbidden || exchanged != want {
			t.Errorf("after %s: %d, exchanged %d times, want %d", wait, w.Code, exchanged, want)
		}
	}
}
