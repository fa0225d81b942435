package console_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/resources"
)

// hostile is a text that a page must escape.
const hostile = "\u202e<script>alert(1)</script>\"'&\x01"

// answer is one of a scripted API.
type answer struct {
	status int
	body   string
}

// scripted answers by method and path, and by path with query first; 403 for all else. It notes the calls.
type scripted struct {
	answers map[string]answer
	// instead replaces answers, by method and path.
	instead map[string]func(*http.Request) (*http.Response, error)
	// waits has paths that answer at the end of the request alone.
	waits string

	mu    sync.Mutex
	calls []string
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
	}
	s.mu.Lock()
	s.calls = append(s.calls, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(sent)))
	s.mu.Unlock()
	if s.waits != "" && strings.HasPrefix(r.URL.Path, s.waits) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if instead := s.instead[r.Method+" "+r.URL.Path]; instead != nil {
		return instead(r)
	}
	a, ok := s.answers[r.Method+" "+r.URL.RequestURI()]
	if !ok {
		a, ok = s.answers[r.Method+" "+r.URL.Path]
	}
	if !ok {
		a = answer{403, `{"error":"You may not do this."}`}
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// called returns the calls whose texts contain a part.
func (s *scripted) called(part string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.calls {
		if strings.Contains(one, part) {
			out = append(out, one)
		}
	}
	return out
}

// oneSession has a session for the secret "s" until it ends. The secret "b" is of another account's user.
type oneSession struct {
	console.Sessions
	ended atomic.Bool
}

func (o *oneSession) Session(_ context.Context, secret string, _ bool) (*resources.ConsoleSession, error) {
	switch {
	case secret == "b":
		return &resources.ConsoleSession{UserID: "user-bea-v1", AccountID: "acct-b-v1", Token: "t"}, nil
	case secret != "s" || o.ended.Load():
		return nil, nil
	}
	return &resources.ConsoleSession{UserID: "user-ada-v1", AccountID: "acct-a-v1", Token: "t"}, nil
}

func (o *oneSession) End(context.Context, string) error {
	o.ended.Store(true)
	return nil
}

// logNow is the console's clock.
var logNow = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// site is a console with a scripted API.
type site struct {
	*console.Console
	api, private *scripted
	session      *oneSession
}

const account = "/api/v1/accounts/acct-a-v1"

// newSite makes a console whose user is Ada.
func newSite(t *testing.T, answers map[string]answer, operators ...string) *site {
	t.Helper()
	return newSiteOf(t, answers, func(cfg *console.Config) { cfg.Operators = operators })
}

// newSiteOf makes a console whose user is Ada, with changes to its parts.
func newSiteOf(t *testing.T, answers map[string]answer, change func(*console.Config)) *site {
	t.Helper()
	address, err := url.Parse("http://127.0.0.1:9003")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{api: &scripted{answers: answers}, private: &scripted{answers: map[string]answer{}}, session: &oneSession{}}
	s.api.answers["GET "+account+"/users/user-ada-v1/profile"] = answer{200, `{"user":{"id":"user-ada-v1","name":"Ada"}}`}
	cfg := console.Config{
		URL: address, API: s.api, Private: s.private, Sessions: s.session,
		IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: func() time.Time { return logNow }, Log: slog.New(slog.DiscardHandler),
	}
	change(&cfg)
	if s.Console, err = console.New(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

// get opens a page, post sends a form.
func (s *site) get(target string) *httptest.ResponseRecorder {
	return s.send(httptest.NewRequest(http.MethodGet, target, http.NoBody))
}

func (s *site) post(target string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://127.0.0.1:9003")
	return s.send(r)
}

func (s *site) send(r *http.Request) *httptest.ResponseRecorder { return s.sendAs("s", r) }

// sendAs sends a request with the secret of a session.
func (s *site) sendAs(secret string, r *http.Request) *httptest.ResponseRecorder {
	r.Host = "127.0.0.1:9003"
	r.AddCookie(&http.Cookie{Name: "portcullis", Value: secret})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

var insidePage = regexp.MustCompile(`(?i)<script>|<script [^>]*>[^<]|<style|<[^>]* (style|on[a-z]+)=`)

// shows checks the status and the parts of a page. Code and style stand in files of their own.
func shows(t *testing.T, w *httptest.ResponseRecorder, status int, parts ...string) {
	t.Helper()
	page := w.Body.String()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, page)
	}
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not on the page: %s", part, page)
		}
	}
	if bad := insidePage.FindString(page); bad != "" {
		t.Errorf("the page has %q", bad)
	}
}

// recorded is a decision as the API shows it.
func recorded(id, user, verdict string) string {
	return fmt.Sprintf(`{"labels":{"id":"LOG","policy_revision":"p1","account_revision":"7"},"decision_id":%q,"path":"authz/decision","requested_by":"user-ada-v1","place":{"hash":"HASH"},`+
		`"timestamp":"2026-03-04T11:58:30.000Z","result":{"allow":%s,"code":"no_role","reason":"no role grants it"},`+
		`"input":{"account":{"id":"acct-a-v1","exists":true,"status":"ACTIVE"},"action":{"id":"project:instance:create"},"subject":{"id":%s,"exists":true,"member":false,"status":"ACTIVE",`+
		`"here":[{"role":"reader","level":"ACCOUNT","status":"ACTIVE","role_status":"ACTIVE","running":false}]},`+
		`"target":{"account":"acct-a-v1","project":"proj-p-v1","rest":"instances/i-1","project_state":"active","same_account":true}}}`,
		id, verdict, quote(user))
}

// quote returns a text as JSON.
func quote(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return `"` + out.String() + `"`
}

// jsonOf returns a value as JSON.
func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
