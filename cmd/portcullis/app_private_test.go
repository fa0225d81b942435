package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// begun is a response with the time of its first byte, and its write deadline.
type begun struct {
	*httptest.ResponseRecorder
	once     sync.Once
	started  chan struct{}
	deadline time.Time
}

func newBegun() *begun {
	return &begun{ResponseRecorder: httptest.NewRecorder(), started: make(chan struct{})}
}

// Flush implements http.Flusher.
func (b *begun) Flush() { b.once.Do(func() { close(b.started) }) }

// SetWriteDeadline implements what http.ResponseController looks for.
func (b *begun) SetWriteDeadline(moment time.Time) error { b.deadline = moment; return nil }

// asksFor returns a request with a token of that subject: a service's with scopes, else a user's.
func (a *app) asksFor(t *testing.T, ctx context.Context, target, subject string, scopes ...string) *http.Request { //nolint:revive // the test's own is first
	t.Helper()
	token, err := sign(a.settings, authn.TokenRequest{Subject: subject, Scopes: scopes, TTL: 2 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// privateHandler answers on the private listener.
func (a *app) privateHandler() http.Handler {
	return a.newPrivate(func() bool { return false }).Server().Handler
}

// explains is the scope of a service that may explain decisions.
const explains = resources.ServiceScopeExplain

// TestReadersOfDecisionsAreBounded: more services at once are asked to come again, users have places of their own, and a
// follower who leaves makes room.
func TestReadersOfDecisionsAreBounded(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	handler := a.privateHandler()
	ask := func(ctx context.Context, query, subject string, scopes ...string) (*begun, <-chan struct{}) {
		w, done := newBegun(), make(chan struct{})
		r := a.asksFor(t, ctx, "/decisions"+query, subject, scopes...)
		go func() {
			defer close(done)
			handler.ServeHTTP(w, r)
		}()
		return w, done
	}
	ctx, leave := context.WithCancel(t.Context())
	var followers []<-chan struct{}
	for range private.MaxReaders {
		w, done := ask(ctx, "?follow=true", "service-test", explains)
		<-w.started
		followers = append(followers, done)
	}
	for _, c := range []struct {
		subject string
		scopes  []string
		want    int
	}{{"service-test", []string{explains}, http.StatusServiceUnavailable}, {demo.Alice, nil, http.StatusOK}} {
		w, done := ask(t.Context(), "", c.subject, c.scopes...)
		if <-done; w.Code != c.want {
			t.Errorf("%s: %d while all places of services are taken", c.subject, w.Code)
		}
	}
	leave()
	for _, done := range followers {
		<-done
	}
	w, done := ask(t.Context(), "", "service-test", explains)
	if <-done; w.Code != http.StatusOK {
		t.Errorf("%d after the followers have left", w.Code)
	}
}

// TestAFollowersAnswerEnds guarantees a whole answer, and the follower may ask again after it. An unread answer ends
// earlier.
func TestAFollowersAnswerEnds(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	synctest.Test(t, func(t *testing.T) {
		w, began := newBegun(), time.Now()
		a.privateHandler().ServeHTTP(w, a.asksFor(t, t.Context(), "/decisions?follow=true", "service-test", explains))
		if took := time.Since(began); took != private.FollowWithin || w.Header().Get(private.TrailerWhole) == "" {
			t.Errorf("it ends after %s: %v", took, w.Header())
		}
		if remaining := time.Until(w.deadline); remaining != private.ReadWithin {
			t.Errorf("what is sent last may be unread for %s", remaining)
		}
	})
}

// slow is a response that takes three minutes for each line.
type slow struct{ *begun }

// Write implements io.Writer.
func (s slow) Write(p []byte) (int, error) {
	time.Sleep(3 * time.Minute)
	return s.begun.Write(p)
}

// TestALongAnswerEnds guarantees that it ends after the line at its deadline, and is not marked as whole.
func TestALongAnswerEnds(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	all := make([]*resources.Judgement, 10)
	for i := range all {
		all[i] = &resources.Judgement{ID: a.ids.ULID(), Path: resources.PathDecision, Question: resources.Question{AccountID: demo.Account, Now: resources.At(time.Now())}}
	}
	if err := errors.Join(a.decisions.Record(t.Context(), all...), a.decisions.Close()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w, began := slow{newBegun()}, time.Now()
		a.privateHandler().ServeHTTP(w, a.asksFor(t, t.Context(), "/decisions?limit=0", "service-test", explains))
		if lines := strings.Count(w.Body.String(), "\n"); lines != 4 || time.Since(began) != 12*time.Minute || w.Header().Get(private.TrailerWhole) != "" {
			t.Errorf("it ends after %s and %d lines: %v", time.Since(began), lines, w.Header())
		}
	})
}

// asksAtOnce is a response. It causes a decision with its first byte, and ends after that decision's line.
type asksAtOnce struct {
	*begun
	ask  func() (id string)
	seen func()
	id   string
}

// Flush implements http.Flusher.
func (a *asksAtOnce) Flush() {
	if a.id == "" {
		a.id = a.ask()
	}
}

// Write implements io.Writer.
func (a *asksAtOnce) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(a.id)) {
		a.seen()
	}
	return a.begun.Write(p)
}

// TestAFollowerMissesNoDecision that is made after the answer has begun.
func TestAFollowerMissesNoDecision(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	row := a.edge.Rows().Named("authorization.explain")
	ctx, enough := context.WithTimeout(t.Context(), 10*time.Second)
	defer enough()
	w := &asksAtOnce{begun: newBegun(), seen: enough, ask: func() string {
		apart := func() { time.Sleep(2 * time.Millisecond) } // times of decisions are milliseconds
		apart()
		defer apart()
		alice := signedIn(demo.Alice)
		o := a.judge.Enter(t.Context(), &alice, row, row.Question(demo.Account, resources.Target{}, nil))
		if o.Err != nil {
			t.Error(o.Err)
		}
		return o.ID
	}}
	a.privateHandler().ServeHTTP(w, a.asksFor(t, ctx, "/decisions?follow=true", "service-test", explains))
	if w.id == "" || !strings.Contains(w.Body.String(), w.id) {
		t.Errorf("%q is not in %q", w.id, w.Body)
	}
}

// TestAWrongQueryOfDecisionsIsRefused, and is not taken for one that asks for less.
func TestAWrongQueryOfDecisionsIsRefused(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	for _, query := range []string{"follow=yes", "order=up", "limit=-1", "user=a&user=b", "verdict=no", "since=now", "from=now", "what=x"} {
		w := httptest.NewRecorder()
		a.privateHandler().ServeHTTP(w, a.asksFor(t, t.Context(), "/decisions?"+query, "service-test", explains))
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d: %s", query, w.Code, w.Body)
		}
	}
}

// reads counts the views of a store.
type reads struct {
	store.Store
	views int
}

func (r *reads) View(ctx context.Context, fn func(store.Tx) error) error {
	r.views++
	return r.Store.View(ctx, fn)
}

// late is a store that is asked when the time for an answer is over.
type late struct{ store.Store }

func (l late) View(ctx context.Context, fn func(store.Tx) error) error {
	time.Sleep(private.PeopleWithin)
	return l.Store.View(ctx, fn)
}

// TestUsersAreSentInTime, or not at all.
func TestUsersAreSentInTime(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	a.store = late{a.store}
	synctest.Test(t, func(t *testing.T) {
		w := newBegun()
		a.privateHandler().ServeHTTP(w, a.asksFor(t, t.Context(), "/policy/people", "service-test", explains, resources.ServiceScopeCheck))
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

// TestWhoSeesNoUserIsRefusedAtOnce, before anybody is read, and takes no place.
func TestWhoSeesNoUserIsRefusedAtOnce(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	counted := &reads{Store: a.store}
	a.store = counted
	handler := a.privateHandler()
	for _, c := range []struct {
		name, subject string
		scopes        []string
		want          int
	}{
		{"a member", "user-bob-v1", nil, 403},
		{"a service that may not search", "service-test", []string{explains}, 403},
		{"a service that may not explain", "service-test", []string{resources.ServiceScopeCheck}, 403},
		{"an unknown user", "user-ghost-v1", nil, 401},
		{"an admin", demo.Alice, nil, 200},
		{"a service", "service-test", []string{explains, resources.ServiceScopeCheck}, 200},
	} {
		counted.views = 0
		w := newBegun()
		handler.ServeHTTP(w, a.asksFor(t, t.Context(), "/policy/people", c.subject, c.scopes...))
		if w.Code != c.want || (counted.views == 0) != (c.want != 200) {
			t.Errorf("%s: %d after %d reads: %s", c.name, w.Code, counted.views, w.Body)
		}
		if remaining := time.Until(w.deadline); c.want == 200 && (remaining <= 0 || remaining > private.ReadWithin) {
			t.Errorf("%s: the answer may be unread for %s", c.name, remaining)
		}
	}
}

// TestForeignHostsAreRefused: a name that is neither this machine's nor configured may lead a browser here. Addresses can't.
func TestForeignHostsAreRefused(t *testing.T) {
	a, _ := demoApp(t, func(c *config.Config) {
		c.Health.Profiles, c.Listeners.Health = true, "gw.internal:9002"
		c.Listeners.HealthHosts = "other.example,Third.example"
	})
	handler := a.privateHandler()
	ask := func(host, target string) int {
		w := newBegun()
		r := a.asksFor(t, t.Context(), target, "service-test", explains, resources.ServiceScopeCheck)
		r.Host = host
		handler.ServeHTTP(w, r)
		return w.Code
	}
	guarded := []string{"/decisions", "/policy/tree", "/policy/history", "/policy/people", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/symbol"}
	for _, host := range []string{"127.0.0.1:9002", "10.1.2.3", "[::1]:9002", "localhost:1", "LOCALHOST", "gw.internal:9002", "other.example", "third.example:80"} {
		for _, target := range guarded {
			if status := ask(host, target); status != 200 {
				t.Errorf("%s of %s: %d", target, host, status)
			}
		}
	}
	for _, host := range []string{"evil.example:9002", "", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "2130706433", "localhost.", "localhost:", "a@localhost", "x.other.example", "::1", "127.0.0.1, evil.example"} {
		for _, target := range guarded {
			if status := ask(host, target); status != 403 {
				t.Errorf("%s of %q: %d", target, host, status)
			}
		}
		for _, target := range []string{"/healthz/live", "/metrics", "/status", "/assertions/jwks.json"} {
			if status := ask(host, target); status != 200 {
				t.Errorf("%s of %q: %d", target, host, status)
			}
		}
	}
}

// TestProfilesKeepTheCommandLine guarantees that nobody reads the command line. URLs in it may have passwords.
func TestProfilesKeepTheCommandLine(t *testing.T) {
	a, _ := demoApp(t, func(c *config.Config) { c.Health.Profiles = true })
	handler := a.privateHandler()
	for target, want := range map[string]int{"/debug/pprof/cmdline": 404, "/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200} {
		w := newBegun()
		handler.ServeHTTP(w, a.asksFor(t, t.Context(), target, "service-test", explains))
		if w.Code != want || strings.Contains(w.Body.String(), strings.Join(os.Args, "\x00")) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}
