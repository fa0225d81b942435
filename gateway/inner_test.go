package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// area is what a process behind the gateway holds: it keeps the requests that its
// handlers got.
type area struct {
	mu       sync.Mutex
	got      []*wire.Request
	turns    []string
	asked    []string
	occupied bool
	err      error
	// waits is how many answers may come too soon; each has a value for one of them.
	waits int
	each  chan struct{}
}

func (a *area) handle(ctx context.Context, r *wire.Request) (wire.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = append(a.turns, gate.Account(ctx, "none"))
	a.got = append(a.got, r)
	answer, err := wire.OK(map[string]string{"made": r.Path})
	if len(a.got) <= a.waits {
		answer.Wait = time.Minute
		a.each <- struct{}{}
	}
	return answer, err
}

func (a *area) CloseProject(_ context.Context, closing resources.Closing) (bool, error) {
	a.asked = append(a.asked, fmt.Sprint("close ", closing))
	return a.occupied, a.err
}

func (a *area) OpenProject(_ context.Context, closing resources.Closing) error {
	a.asked = append(a.asked, fmt.Sprint("open ", closing))
	return a.err
}

// inner serves the area "things" to gateways, on a port of its own.
func inner(t *testing.T, a *area, change ...func(*gateway.Config)) (*edge, *url.URL) {
	t.Helper()
	e := serve(t, func(c gateway.Config) (*gateway.Edge, error) {
		c.Upstreams = nil
		return gateway.NewInner(c, map[string]gateway.Area{"things": {
			Routes: wire.Routes{"things": a.handle, "make": a.handle, "open": a.handle}, Projects: a,
		}})
	}, change...)
	l := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- e.Listen(l) }()
	t.Cleanup(func() { _ = l.Close(); <-served })
	return e, &url.URL{Scheme: "http", Host: l.Addr().String()}
}

func through(t *testing.T, base *url.URL) *edge {
	return start(t, func(c *gateway.Config) { c.Upstreams = map[string]*url.URL{"things": base} })
}

func TestInnerProcessKnowsTheCaller(t *testing.T) {
	a := &area{}
	behind, base := inner(t, a)
	r := through(t, base).send(t, request("POST", things+"a/b?x=1", `{"a":1}`, bearer, jsonType, "X-Request-ID: req-7", "Idempotency-Key: k-1"))
	if r.Status != 200 || r.Body != `{"made":"`+things+`a/b"}` || r.Header.Get("X-Request-ID") != "req-7" {
		t.Fatalf("%d %s %v", r.Status, r.Body, r.Header)
	}
	if len(a.turns) != 1 || a.turns[0] != "acct-a-v1" {
		t.Errorf("in the turns of %q", a.turns)
	}
	got := a.got[0]
	if got.Principal.ID != "user-alice-v1" || got.Principal.Kind != resources.PrincipalUser || got.AccountID != "acct-a-v1" ||
		got.RequestID != "req-7" || string(got.Body) != `{"a":1}` || got.Query != "x=1" || got.IdempotencyKey != "k-1" || got.Path != things+"a/b" {
		t.Errorf("%+v", got)
	}
	if record := behind.last(t); record.Principal != "user-alice-v1" || !record.Allowed || record.RequestID != "req-7" || record.Action != "project:thing:create" {
		t.Errorf("%+v", record)
	}
}

// TestInnerProcessTakesNobodysWord but a gateway's, about the very request.
func TestInnerProcessTakesNobodysWord(t *testing.T) {
	a := &area{}
	e, _ := inner(t, a)
	keys := assertions()
	said := assertion.Statement{
		Upstream: "things", RequestID: "req-1", Method: "POST", Target: things + "a", Body: []byte(`{}`),
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1"}, Account: "acct-a-v1", Action: "project:thing:create",
	}
	edit := func(change func(*assertion.Statement)) string {
		s := said
		change(&s)
		token := must.Get(keys.Sign(s))(t)
		return assertion.Header + ": " + token
	}
	good := edit(func(*assertion.Statement) {})
	try := func(want int, headers ...string) {
		t.Helper()
		r := e.send(t, request("POST", things+"a", "{}", append(headers, jsonType, "X-Request-ID: req-1")...))
		if r.Status != want || (want == 401) != (r.Header.Get("X-Portcullis-Assertion-Refused") != "") || strings.Contains(r.Body, "master") {
			t.Errorf("%d %s %v, want %d", r.Status, r.Body, r.Header, want)
		}
	}
	try(200, good)
	try(401)
	try(401, bearer)
	try(401, assertion.Header+": ")
	try(401, assertion.Header+": x")
	try(401, "X-User-ID: user-alice-v1", "X-Account-ID: acct-a-v1", "X-Principal-Kind: user")
	try(401, good, good)
	try(401, edit(func(s *assertion.Statement) { s.Upstream = "access" }))
	try(401, edit(func(s *assertion.Statement) { s.RequestID = "req-2" }))
	try(401, edit(func(s *assertion.Statement) { s.Method = "GET" }))
	try(401, edit(func(s *assertion.Statement) { s.Target += "?" }))
	try(401, edit(func(s *assertion.Statement) { s.Body = nil }))
	try(401, edit(func(s *assertion.Statement) { s.Action = "project:thing:read" }))
	if len(a.got) != 1 {
		t.Errorf("%d requests were handled", len(a.got))
	}
	for path, want := range map[string]int{"/api/v1/accounts/acct-a-v1/roles": 404, "/api/v1/authorize/x": 404, "/public": 404, "/open/x": 401} {
		if r := e.send(t, request("GET", path, "")); r.Status != want {
			t.Errorf("%s: %d, want %d", path, r.Status, want)
		}
	}
}

// TestRefusedAssertionIsNotTheCallersFault: nobody has to sign in again because two
// processes disagree.
func TestRefusedAssertionIsNotTheCallersFault(t *testing.T) {
	a := &area{}
	_, base := inner(t, a, func(c *gateway.Config) {
		late := func() time.Time { return time.Now().Add(time.Hour) }
		c.Assertions, _ = assertion.NewKeys(masterKey(), late)
	})
	e := through(t, base)
	r := e.send(t, request("GET", things+"a", "", bearer))
	if r.Status != 503 || r.Header.Get("Retry-After") == "" || r.Header.Get("WWW-Authenticate") != "" || len(a.got) != 0 {
		t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
	}
	if err := e.last(t).Err; err == nil || !strings.Contains(err.Error(), "master key") {
		t.Errorf("the log is told %v", err)
	}
}

// TestRowThatTheAreaLacksIsNotTheCallersFault: a DELETE is not answered as if the thing were gone while a gateway and an area
// have two catalogues, as in an upgrade.
func TestRowThatTheAreaLacksIsNotTheCallersFault(t *testing.T) {
	a := &area{}
	_, base := inner(t, a)
	e := start(t, func(c *gateway.Config) {
		c.Upstreams = map[string]*url.URL{"things": base}
		c.Catalogue = append(c.Catalogue,
			resources.Route{Name: "drop", Method: "DELETE", Path: "/api/v1/projects/{projectId}/things/{proxy+}", Action: "project:thing:delete", Area: "compute", Upstream: "things"},
			resources.Route{Name: "parts", Method: "DELETE", Path: "/api/v1/projects/{projectId}/parts/{proxy+}", Action: "project:part:delete", Area: "compute", Upstream: "things"})
	})
	for _, path := range []string{things + "a", strings.Replace(things, "/things/", "/parts/", 1) + "a"} {
		r := e.send(t, request("DELETE", path, "", bearer))
		if r.Status != 503 || r.Header.Get("Retry-After") == "" || r.Header.Get("Allow") != "" || len(a.got) != 0 {
			t.Errorf("%s: %d %s %v", path, r.Status, r.Body, r.Header)
		}
		if err := e.last(t).Err; err == nil || !strings.Contains(err.Error(), "catalogue") {
			t.Errorf("%s: the log is told %v", path, err)
		}
	}
}

// remoteArea is the area of an inner edge, as a gateway asks it.
func remoteArea(base *url.URL) peer.RemoteArea {
	return peer.RemoteArea{Upstream: peer.NewUpstream("things", base, time.Second, time.Minute, assertions()), IDs: config().IDs}
}

var closing = resources.Closing{AccountID: "acct-a-v1", ProjectID: "proj-a-v1", Mark: 7}

func TestProjectIsClosedInAnotherProcess(t *testing.T) {
	a := &area{}
	_, base := inner(t, a)
	remote := remoteArea(base)
	for _, want := range []bool{false, true} {
		a.occupied = want
		if got, err := remote.CloseProject(t.Context(), closing); err != nil || got != want {
			t.Errorf("%v, %v", got, err)
		}
	}
	if err := remote.OpenProject(t.Context(), closing); err != nil {
		t.Error(err)
	}
	if got := strings.Join(a.asked, ", "); got != "close {acct-a-v1 proj-a-v1 7}, close {acct-a-v1 proj-a-v1 7}, open {acct-a-v1 proj-a-v1 7}" {
		t.Error(got)
	}
	a.err = errors.New("broken")
	if _, err := remote.CloseProject(t.Context(), closing); err == nil {
		t.Error("an area that failed said something")
	}
	if err := remote.OpenProject(t.Context(), closing); err == nil {
		t.Error("an area that failed opened")
	}
}

// TestOnlyTheGatewayCloses: not even a vouched-for caller does.
func TestOnlyTheGatewayCloses(t *testing.T) {
	a := &area{}
	e, _ := inner(t, a)
	const path = "/internal/v1/areas/things/closings/acct-a-v1/proj-a-v1/7"
	for _, kind := range []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone, ""} {
		token := must.Get(assertions().Sign(assertion.Statement{
			Upstream: "things", RequestID: "r", Method: "PUT", Target: path, Principal: resources.Principal{Kind: kind, ID: assertion.Issuer},
		}))(t)
		if r := e.send(t, request("PUT", path, "", "X-Request-ID: r", assertion.Header+": "+token)); r.Status != 403 {
			t.Errorf("%q: %d %s", kind, r.Status, r.Body)
		}
	}
	if r := start(t).send(t, request("PUT", path, "", bearer)); r.Status != 404 {
		t.Errorf("the edge knows the path: %d", r.Status)
	}
	if len(a.asked) != 0 {
		t.Error(a.asked)
	}
}

// TestUnclearAnswerClosesNothing: only "occupied": false is a no.
func TestUnclearAnswerClosesNothing(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"another status":      func(w http.ResponseWriter) { w.WriteHeader(201); _, _ = io.WriteString(w, `{"occupied":false}`) },
		"nothing":             func(http.ResponseWriter) {},
		"no field":            func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{}`) },
		"null":                func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"occupied":null}`) },
		"another field":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"occupied":false,"x":1}`) },
		"a page":              func(w http.ResponseWriter) { _, _ = io.WriteString(w, `<html>`) },
		"a redirect":          func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(302) },
		"a broken connection": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
			defer s.Close()
			base := must.Get(url.Parse(s.URL))(t)
			remote := remoteArea(base)
			if _, err := remote.CloseProject(t.Context(), closing); err == nil {
				t.Error("taken for an answer")
			}
		})
	}
}
