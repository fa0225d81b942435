package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/resources"
)

// endedSessions has a session of Ada for the secret "s" and one of Bob for "b". It counts the ended ones.
type endedSessions struct {
	console.Sessions
	ended *[]string
}

func (endedSessions) Session(_ context.Context, secret string, _ bool) (*resources.ConsoleSession, error) {
	user := map[string]string{"s": "user-ada-v1", "b": "user-bob-v1"}[secret]
	if user == "" {
		return nil, nil
	}
	return &resources.ConsoleSession{UserID: user, AccountID: "acct-a-v1", Token: "t"}, nil
}

func (e endedSessions) End(_ context.Context, secret string) error {
	*e.ended = append(*e.ended, secret)
	return nil
}

// TestARefusedTokenEndsItsSession guarantees that the console ends a session and deletes its cookie once the gateway
// refuses its token, at the sign-in check of a page and in the middle of one.
func TestARefusedTokenEndsItsSession(t *testing.T) {
	t.Parallel()
	refused := answer{401, `{"error":{"message":"invalid or expired authentication token"}}`}
	for name, c := range map[string]struct {
		path, refused string
		want          int
		answer        answer
	}{
		"at the check":         {"/roles", "GET " + account + "/users/user-ada-v1/profile", http.StatusSeeOther, refused},
		"in the middle":        {"/roles", "GET " + account + "/roles", http.StatusSeeOther, refused},
		"suspended":            {"/roles", "GET " + account + "/users/user-ada-v1/profile", http.StatusForbidden, answer{403, `{"error":"You are suspended."}`}},
		"a refusal, no ending": {"/roles", "GET " + account + "/roles", http.StatusForbidden, answer{403, `{"error":"You may not do this."}`}},
	} {
		var ended []string
		s := newSiteOf(t, map[string]answer{"POST /access/v1/evaluations": {200, `{"evaluations":[{"decision":false}]}`}}, func(cfg *console.Config) { cfg.Sessions = endedSessions{ended: &ended} })
		s.api.answers[c.refused] = c.answer
		got := s.get(c.path)
		over := c.answer.status == 401 || name == "suspended"
		if got.Code != c.want || over != (len(ended) == 1) || over != strings.Contains(got.Header().Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%s: %d, ended %q, cookie %q", name, got.Code, ended, got.Header().Get("Set-Cookie"))
		}
	}
}

// storedSessions ends a session if the store has time for it, as a store does.
type storedSessions struct{ endedSessions }

func (s storedSessions) End(ctx context.Context, secret string) error {
	if _, bound := ctx.Deadline(); ctx.Err() != nil || !bound {
		return errors.Join(ctx.Err(), errors.New("not ended"))
	}
	return s.endedSessions.End(ctx, secret)
}

func (s storedSessions) EndAll(ctx context.Context, secret string) error { return s.End(ctx, secret) }

func (storedSessions) Redeem(context.Context, string) (string, error) { return "n", nil }

// TestAClosedBrowserIsSignedOut guarantees the end of a session also for a browser that was closed before the answer: at a
// sign-out, and at the next user's sign-in.
func TestAClosedBrowserIsSignedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		form url.Values
	}{
		"one session": {"/logout", nil}, "all sessions": {"/logout", url.Values{"all": {"1"}}}, "another sign-in": {"/login/link", url.Values{"code": {"c"}}},
	} {
		var ended []string
		s := newSiteOf(t, map[string]answer{}, func(cfg *console.Config) { cfg.Sessions = storedSessions{endedSessions{ended: &ended}} })
		closed, closeIt := context.WithCancel(t.Context())
		closeIt()
		r := httptest.NewRequestWithContext(closed, http.MethodPost, c.path, strings.NewReader(c.form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://127.0.0.1:9003")
		if got := s.send(r); got.Code != http.StatusOK || !slices.Equal(ended, []string{"s"}) {
			t.Errorf("%s: %d, ended %q", name, got.Code, ended)
		}
	}
}

// usedSessions records whether a read restarts the idle timeout.
type usedSessions struct {
	console.Sessions
	used *[]bool
}

func (u usedSessions) Session(_ context.Context, _ string, used bool) (*resources.ConsoleSession, error) {
	*u.used = append(*u.used, used)
	return &resources.ConsoleSession{UserID: "user-ada-v1", AccountID: "acct-a-v1", Token: "t"}, nil
}

// TestTheScriptDoesNotUseASession guarantees that an open page does not keep its session from timing out.
func TestTheScriptDoesNotUseASession(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"/roles": true, "/decisions/new?after=c": false, "/clusters/proj-a-v1/kubernetes": false} {
		var used []bool
		s := newSiteOf(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer()}, func(cfg *console.Config) { cfg.Sessions = usedSessions{used: &used} })
		s.get(path)
		if len(used) == 0 || slices.Contains(used, !want) {
			t.Errorf("%s: %v, want %v", path, used, want)
		}
	}
}

// waiting compares until its context ends.
type waiting struct{ ended chan struct{} }

func (w waiting) Compare(ctx context.Context, _ string, _ []byte, _ func(console.CompareStep)) {
	<-ctx.Done()
	close(w.ended)
}

// running begins a comparison of Ada's and returns the console, and whether the comparison runs.
func running(t *testing.T) (s *site, runs func() bool) {
	t.Helper()
	w := waiting{ended: make(chan struct{})}
	s = newSiteOf(t, map[string]answer{"GET " + account + "/users/user-bob-v1/profile": {200, `{"user":{"id":"user-bob-v1"}}`}}, func(cfg *console.Config) {
		cfg.Compare, cfg.Operators, cfg.Now, cfg.Sessions = w, []string{"user-ada-v1", "user-bob-v1"}, time.Now, endedSessions{ended: new([]string)}
	})
	if got := s.post("/policy/compare", url.Values{"in_force": {"1"}}); got.Code != http.StatusSeeOther {
		t.Fatal(got.Code, got.Body)
	}
	return s, func() bool {
		synctest.Wait()
		select {
		case <-w.ended:
			return false
		default:
			return true
		}
	}
}

// TestAnOperatorStopsTheirOwnComparison guarantees that an operator can't stop another operator's comparison.
func TestAnOperatorStopsTheirOwnComparison(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, runs := running(t)
		r := httptest.NewRequest(http.MethodPost, "/policy/compare/stop", http.NoBody)
		r.Header.Set("Origin", "http://127.0.0.1:9003")
		r.Host = "127.0.0.1:9003"
		r.AddCookie(&http.Cookie{Name: "portcullis", Value: "b"})
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusSeeOther || !runs() {
			t.Errorf("after Bob's stop: %d, runs %v", w.Code, runs())
		}
		if got := s.post("/policy/compare/stop", nil); got.Code != http.StatusSeeOther || runs() {
			t.Errorf("after Ada's stop: %d, runs %v", got.Code, runs())
		}
	})
}

// TestAComparisonEndsUnseen guarantees that a comparison is cancelled once nobody loads its page for 8 seconds.
func TestAComparisonEndsUnseen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, runs := running(t)
		for range 3 {
			time.Sleep(7 * time.Second)
			if got := s.get("/policy/compare"); got.Code != http.StatusOK || !runs() {
				t.Fatalf("%d, runs %v", got.Code, runs())
			}
		}
		time.Sleep(10*time.Second + time.Millisecond) // the look after 8 s
		if runs() {
			t.Error("it runs unseen")
		}
	})
}
