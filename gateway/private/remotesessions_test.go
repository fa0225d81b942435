package private_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
)

// remote returns the sessions of a listener with one answer to every operation.
func remote(t *testing.T, answer http.HandlerFunc) *private.RemoteSessions {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return &private.RemoteSessions{URL: server.URL, Transport: server.Client().Transport, Token: func() (string, error) { return "t", nil }}
}

// TestNoAnswerIsASession guarantees an error for every incomplete response, and never a session or a person's refusal.
func TestNoAnswerIsASession(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the secrets followed a redirect") }))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"a refusal": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"refused":"no"}`, http.StatusForbidden) },
		"a failure": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) },
		"a page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"nothing":   func(http.ResponseWriter, *http.Request) {},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"secret":"` + strings.Repeat("a", 70_000) + `"}`))
		},
		"a cut answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "50")
			_, _ = w.Write([]byte(`{}`))
		},
		"half a session": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"session":{"user_id":"u","account_id":"a"}}`))
		},
	} {
		s := remote(t, answer)
		session, err := s.Session(t.Context(), "a secret", true)
		if session != nil || err == nil {
			t.Errorf("%s: a session %v, %v", name, session, err)
		}
		for do, begin := range map[string]func(context.Context, string) (string, error){"begin": s.Begin, "redeem": s.Redeem} {
			secret, err := begin(t.Context(), "a code")
			if _, refused := errors.AsType[*resources.Error](err); secret != "" || err == nil || refused {
				t.Errorf("%s: %s gives %q, %v", name, do, secret, err)
			}
		}
	}
}

// TestSessionsAreBounded guarantees a deadline for each call, and that nothing is sent without a token.
func TestSessionsAreBounded(t *testing.T) {
	bounded := false
	s := &private.RemoteSessions{
		URL: "http://gateway", Token: func() (string, error) { return "t", nil },
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			_, bounded = r.Context().Deadline()
			return nil, errors.New("no")
		}),
	}
	if err := s.End(context.WithoutCancel(t.Context()), "a secret"); err == nil || !bounded {
		t.Errorf("%v, bounded: %t", err, bounded)
	}
	bounded, s.Token = false, func() (string, error) { return "", errors.New("no token") }
	if err := s.EndAll(t.Context(), "a secret"); err == nil || bounded {
		t.Errorf("without a token: %v, called: %t", err, bounded)
	}
}

// transport is a function as a transport.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
