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

// oneSession is a store with a session for each code.
type oneSession struct{ fails bool }

func (oneSession) Begin(context.Context, string) (string, error) { return "secret", nil }

func (oneSession) Redeem(context.Context, string) (string, error) { return "secret", nil }

func (s oneSession) Session(context.Context, string) (*resources.ConsoleSession, error) {
	if s.fails {
		return nil, errors.New("the store is down")
	}
	return nil, nil
}

func (oneSession) End(context.Context, string) error { return nil }

func (oneSession) EndAll(context.Context, string) error { return nil }

func (oneSession) Seal([]byte, string) string { return "sealed" }

func (oneSession) Open(string, string) ([]byte, bool) { return nil, false }

// atHTTPS answers a request of a browser at https://console.example.
func atHTTPS(t *testing.T, s oneSession, r *http.Request) *http.Response {
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

// TestCookiesOverTLS guarantees cookies that a browser binds to the host and to TLS, and that only such ones are taken.
func TestCookiesOverTLS(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "https://console.example/login/link", strings.NewReader("code=x"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://console.example")
	resp := atHTTPS(t, oneSession{}, r)
	want := "__Host-portcullis=secret; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict"
	if got := resp.Header.Get("Set-Cookie"); resp.StatusCode != http.StatusOK || got != want {
		t.Errorf("%d, %s", resp.StatusCode, got)
	}
	if got := resp.Header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=31536000") {
		t.Error(got)
	}
	for _, origin := range []string{"http://console.example", "https://console.example:8443", "https://a.console.example"} {
		r.Header.Set("Origin", origin)
		if resp := atHTTPS(t, oneSession{}, r); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", origin, resp.StatusCode)
		}
	}
}

// TestAStoreThatIsDownSignsNobodyIn guarantees 503 with a session that can't be read, and that a cookie without the
// prefix is not even looked up.
func TestAStoreThatIsDownSignsNobodyIn(t *testing.T) {
	for name, want := range map[string]int{"__Host-portcullis": http.StatusServiceUnavailable, "portcullis": http.StatusSeeOther} {
		r := httptest.NewRequest(http.MethodGet, "https://console.example/ask", nil)
		r.AddCookie(&http.Cookie{Name: name, Value: "secret"})
		if resp := atHTTPS(t, oneSession{fails: true}, r); resp.StatusCode != want || resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, want)
		}
	}
}
