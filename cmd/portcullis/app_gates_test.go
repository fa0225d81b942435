package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
)

// request is the context of one request in a test. It knows what the request holds of the store, and every gate asks it
// for its account.
type request struct {
	context.Context
	t           *testing.T
	held, gates atomic.Int64
	views       atomic.Int64
}

// Value implements context.Context.
func (r *request) Value(key any) any {
	switch key {
	case heldKey{}:
		return r
	case gate.AccountKey{}:
		r.gates.Add(1)
		if r.held.Load() > 0 {
			r.t.Errorf("somebody comes to a gate inside a view or a transaction\n%s", debug.Stack())
		}
	}
	return r.Context.Value(key)
}

type heldKey struct{}

// holding is a store that shows a request what it holds.
type holding struct{ store.Store }

func (h holding) View(ctx context.Context, fn func(store.Tx) error) error {
	return h.Store.View(ctx, held(ctx, fn))
}

func (h holding) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return h.Store.Transact(ctx, held(ctx, fn))
}

func held(ctx context.Context, fn func(store.Tx) error) func(store.Tx) error {
	r, ok := ctx.Value(heldKey{}).(*request)
	if !ok {
		return fn
	}
	return func(tx store.Tx) error {
		r.views.Add(1)
		r.held.Add(1)
		defer r.held.Add(-1)
		return fn(tx)
	}
}

// heldRequests are requests of every handler, of every door and of every other reader for a caller. Their gateway keeps
// neither facts nor verdicts nor tokens, so everything passes gates.
func heldRequests(t *testing.T) map[string]func(*request) error {
	t.Helper()
	a, routes := demoApp(t, func(s *config.Config) { s.Caches.Facts, s.Caches.Verdicts, s.Caches.Tokens = 1, 0, 0 },
		func(s store.Store) store.Store { return holding{s} })
	all := heldDoors(t, a)
	maps.Copy(all, heldOthers(t, a))
	for name, handler := range routes {
		caller := signedIn(demo.Alice)
		if forServices(name) {
			caller = aService()
		}
		all[name] = func(r *request) error {
			_, err := handler(r, requestOf(name, caller))
			return err
		}
	}
	all["change.list that scans"] = func(r *request) error {
		req := requestOf("change.list", signedIn(demo.Alice))
		req.Query = "action=account:nothing:read"
		_, err := routes["change.list"](r, req)
		return err
	}
	return all
}

// heldOthers are those of the authenticator, of Envoy and of the private listener.
func heldOthers(t *testing.T, a *app) map[string]func(*request) error {
	t.Helper()
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signer.Sign(authn.TokenRequest{Subject: "service-held", Scopes: []string{"authz:explain", "authz:check"}, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(*request) error{
		"a credential": func(r *request) error {
			_, err := a.state.authenticator.Authenticate(r, []string{"Bearer " + token}, nil)
			return err
		},
		"a call of Envoy": func(r *request) error {
			_, err := a.edge.Foreign(r, &doors.Foreign{
				Route: "ext_authz", Peer: &net.TCPAddr{}, Authorization: []string{"Bearer " + token},
				Original: doors.Original{
					Call: catalogue.Call{Method: "GET", Path: "/api/v1/accounts/" + demo.Account + "/roles"}, Headers: sentHeaders{},
				},
			})
			return err
		},
		"/policy/people": func(r *request) error {
			req := httptest.NewRequestWithContext(r, http.MethodGet, "/policy/people", http.NoBody)
			req.Host = "localhost"
			req.Header.Set("Authorization", "Bearer "+token)
			out := httptest.NewRecorder()
			if a.privateHandler().ServeHTTP(out, req); out.Code != http.StatusOK {
				t.Errorf("%d %s", out.Code, out.Body)
			}
			return nil
		},
	}
}

// heldDoors are calls of every door.
func heldDoors(t *testing.T, a *app) map[string]func(*request) error {
	t.Helper()
	const (
		place    = "accounts/" + demo.Account + "/projects/" + demo.Project
		subject  = `"subject":{"type":"user","id":"` + demo.Carol + `"}`
		action   = `"action":{"name":"project:instance:create"}`
		resource = `"resource":{"type":"instances","id":"i","properties":{"account_id":"` + demo.Account + `","project_id":"` + demo.Project + `"}}`
		projects = `"resource":{"type":"project","properties":{"account_id":"` + demo.Account + `"}}`
	)
	asked := sentHeaders{"X-User-ID": demo.Carol, "X-Account-ID": demo.Account, "X-Action": "project:instance:create"}
	json := sentHeaders{"Content-Type": "application/json"}
	calls := map[string]doors.Call{
		"authorization.check":     {Path: place + "/instances", Headers: asked},
		"authorization.explain":   {Path: place + "/instances", Headers: asked},
		"account.preview":         {Path: demo.Account, Headers: json, Body: []byte(`{"changes":[{"kind":"user_status","user_id":"` + demo.Bob + `","status":"INACTIVE"}]}`)},
		"authzen.evaluation":      {Headers: json, Body: []byte("{" + subject + "," + action + "," + resource + "}")},
		"authzen.evaluations":     {Headers: json, Body: []byte("{" + action + "," + resource + `,"evaluations":[{` + subject + `},{"subject":{"type":"user","id":"` + demo.Bob + `"}}]}`)},
		"authzen.search_subject":  {Headers: json, Body: []byte(`{"subject":{"type":"user"},` + action + "," + resource + "}")},
		"authzen.search_resource": {Headers: json, Body: []byte(`{"subject":{"type":"user","id":"` + demo.Bob + `"},"action":{"name":"project:instance:read"},` + projects + "}")},
		"authzen.search_action":   {Headers: json, Body: []byte("{" + subject + "," + resource + "}")},
		"authzen.configuration":   {Headers: sentHeaders{}},

		"authzen.configuration_of_path": {Headers: sentHeaders{}},
		"mcp.call":                      {Path: "none", Headers: json, Method: "POST"},
		"mcp.resource_metadata":         {Path: "mcp/none", Headers: sentHeaders{}},
	}
	all := map[string]func(*request) error{}
	for name, door := range a.newDoors() {
		call, ok := calls[name]
		if !ok {
			t.Errorf("%s: nobody calls it here", name)
		}
		caller := signedIn(demo.Alice)
		call.Row, call.Rows, call.Caller, call.Rates = a.edge.Rows().Named(name), a.edge.Rows(), &caller, noRates{}
		all[name] = func(r *request) error {
			_, err := door.Answer(r, call)
			return err
		}
	}
	return all
}

// sentHeaders are those of a call, each sent once.
type sentHeaders map[string]string

func (h sentHeaders) Identity(name string) (value, problem string) { return h[name], "" }

func (h sentHeaders) Values(name string) (values []string, odd bool) {
	if value, sent := h[name]; sent {
		values = []string{value}
	}
	return values, false
}

type noRates struct{}

func (noRates) Charge(int) error { return nil }

func (noRates) Owe(int) {}

// TestNobodyComesToAGateInsideAView covers every handler, every door and every other reader of policy or facts for a
// caller. It guarantees that none of them holds a view or a transaction during its wait for a gate, or for a read
// behind one: the caller inside the gate may wait for the same session.
func TestNobodyComesToAGateInsideAView(t *testing.T) {
	all := heldRequests(t)
	views := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			r := &request{Context: t.Context(), t: t}
			err := all[name](r)
			if e := resources.AsError(err); err != nil && e.Kind != resources.KindNotFound && e.Kind != resources.KindConflict && e.Kind != resources.KindForbidden {
				t.Errorf("it did not get as far as policy: %v %v", err, e.Problems)
			}
			needsNothing := name == "action.list" || name == "delegation.put" || strings.HasPrefix(name, "approval.") || strings.HasPrefix(name, "authzen.configuration") || strings.HasPrefix(name, "mcp.") // they show the tree in force, and it has no MCP server; delegations and approvals are the caller's own
			if r.gates.Load() == 0 && !needsNothing {
				t.Error("it came to no gate")
			}
			views += int(r.views.Load())
		})
	}
	if views < len(all) {
		t.Errorf("%d views and transactions of %d requests", views, len(all))
	}
}

// steady is a store with sessions that end on a signal.
type steady struct {
	store.Store
	end chan struct{}
}

var errSteady = errors.New("as the store says")

func (s steady) View(context.Context, func(store.Tx) error) error {
	<-s.end
	return errSteady
}

func (s steady) Transact(ctx context.Context, fn func(store.Tx) error) error { return s.View(ctx, fn) }

// TestAccountsTakeTurnsInTheStore guarantees, for snapshots and changes, that an account with many calls delays
// another's call by one of them. An error is passed on.
func TestAccountsTakeTurnsInTheStore(t *testing.T) {
	for name, use := range map[string]func(store.Store, context.Context) error{
		"views":   func(s store.Store, ctx context.Context) error { return s.View(ctx, nil) },
		"changes": func(s store.Store, ctx context.Context) error { return s.Transact(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := steady{end: make(chan struct{})}
				s := inTurns{inner, gate.New(1, anyNumber), gate.New(1, anyNumber)}
				var ended []string
				for _, account := range []string{"a", "a", "a", "a", "b"} {
					go func() {
						if err := use(s, context.WithValue(t.Context(), gate.AccountKey{}, account)); !errors.Is(err, errSteady) {
							t.Error(err)
						}
						ended = append(ended, account)
					}()
					synctest.Wait()
				}
				for range 5 {
					inner.end <- struct{}{}
					synctest.Wait()
				}
				if want := []string{"a", "a", "b", "a", "a"}; !slices.Equal(ended, want) {
					t.Errorf("%q, want %q", ended, want)
				}
			})
		})
	}
}

// TestWithoutATurnNothingIsDone guarantees that leaving the queue costs no call of the store.
func TestWithoutATurnNothingIsDone(t *testing.T) {
	views, changes := gate.New(1, 0), gate.New(1, 0)
	if err := errors.Join(views.TryEnter(), changes.TryEnter()); err != nil {
		t.Fatal(err)
	}
	s := inTurns{nil, views, changes}
	if err := s.View(t.Context(), nil); !errors.Is(err, gate.ErrFull) {
		t.Error(err)
	}
	if err := s.Transact(t.Context(), nil); !errors.Is(err, gate.ErrFull) {
		t.Error(err)
	}
}
