package console_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/resources"
)

// tlsSessions is a store with a session for each code.
type tlsSessions struct{ fails bool }

func (tlsSessions) Begin(context.Context, string) (string, error) { return "secret", nil }

func (tlsSessions) Redeem(context.Context, string) (string, error) { return "secret", nil }

func (s tlsSessions) Session(context.Context, string, bool) (*resources.ConsoleSession, error) {
	if s.fails {
		return nil, errors.New("the store is down")
	}
	return nil, nil
}

func (tlsSessions) End(context.Context, string) error { return nil }

func (tlsSessions) EndAll(context.Context, string) error { return nil }

func (tlsSessions) Seal([]byte, string) string { return "sealed" }

func (tlsSessions) Open(string, string) ([]byte, bool) { return nil, false }

// atHTTPS answers a request of a browser at https://console.example.
func atHTTPS(t *testing.T, s tlsSessions, r *http.Request) *http.Response {
	t.Helper()
	handler, err := console.New(console.Config{
		URL: &url.URL{Scheme: "https", Host: "console.example"}, API: http.DefaultTransport, Sessions: s,
		IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	return answer.Result()
}

// TestCookiesOverTLS guarantees that a browser binds the cookie to the host and to TLS.
func TestCookiesOverTLS(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "https://console.example/login/link", strings.NewReader("code=x"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://console.example")
	resp := atHTTPS(t, tlsSessions{}, r)
	want := "__Host-portcullis=secret; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict"
	if got := resp.Header.Get("Set-Cookie"); resp.StatusCode != http.StatusOK || got != want {
		t.Errorf("%d, %s", resp.StatusCode, got)
	}
	if got := resp.Header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=31536000") {
		t.Error(got)
	}
	for _, origin := range []string{"http://console.example", "https://console.example:8443", "https://a.console.example"} {
		r.Header.Set("Origin", origin)
		if resp := atHTTPS(t, tlsSessions{}, r); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", origin, resp.StatusCode)
		}
	}
}

// TestAStoreThatIsDownSignsNobodyIn guarantees 503 with a session that can't be read. A cookie without the prefix is not
// looked up.
func TestAStoreThatIsDownSignsNobodyIn(t *testing.T) {
	for name, want := range map[string]int{"__Host-portcullis": http.StatusServiceUnavailable, "portcullis": http.StatusSeeOther} {
		r := httptest.NewRequest(http.MethodGet, "https://console.example/ask", nil)
		r.AddCookie(&http.Cookie{Name: name, Value: "secret"})
		if resp := atHTTPS(t, tlsSessions{fails: true}, r); resp.StatusCode != want || resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, want)
		}
	}
}
