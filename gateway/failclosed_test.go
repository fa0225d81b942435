package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

func fixedNow() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

var errInside = errors.New("inside: db-host-7 said " + secret)

// failure is a way to fail, and what is answered then.
type failure struct {
	fail   func() error
	status int
}

func failures() map[string]failure {
	return map[string]failure{
		"error":    {func() error { return errInside }, 503},
		"domain":   {func() error { return resources.Unavailable("Come again.", errInside) }, 503},
		"bad kind": {func() error { return resources.NotFound("row") }, 503},
		"timeout":  {func() error { return context.DeadlineExceeded }, 503},
		"panic":    {func() error { panic(errInside.Error()) }, 500},
	}
}

// TestWhatCanNotBeDecidedIsNotAllowed: each part of the decision fails in each way, at
// E3 and at a route; the answer is never an allow, tells nothing of the inside, and the
// connection serves the next request.
func TestWhatCanNotBeDecidedIsNotAllowed(t *testing.T) {
	const unavailable = `{"allowed":false,"reason":"authorization state unavailable"}`
	for name, failing := range failures() {
		for _, part := range []string{"decide", "access", "caller facts", "subject facts"} {
			t.Run(part+" "+name, func(t *testing.T) {
				broken, called := true, false
				fail := func(inside bool) error {
					if broken && inside {
						return failing.fail()
					}
					return nil
				}
				e := start(t, func(c *gateway.Config) {
					yes := func(inside bool) func(context.Context, resources.Question) (resources.Decision, error) {
						return func(ctx context.Context, q resources.Question) (resources.Decision, error) {
							d, _ := allow(ctx, q)
							return d, fail(inside) // an allow beside an error is none
						}
					}
					c.Judge.Pin = policy{yes(part == "decide"), yes(part == "access")}.pin()
					good := c.Judge.Facts
					c.Judge.Facts = facts{func(ctx context.Context, account, user, project string) (resources.Facts, error) {
						f, _ := good.Facts(ctx, account, user, project)
						return f, fail(part == "caller facts" && user == "user-alice-v1" || part == "subject facts" && user == "user-bob-v1")
					}}
					c.Handlers["access"]["list"] = func(context.Context, *wire.Request) (wire.Response, error) {
						called = true
						return wire.OK(nil)
					}
				})
				l := e.dial(t)
				r := l.send(t, question("x"))
				if r.Status != failing.status || strings.Contains(r.Body, `"allowed":true`) || e.last(t).Allowed {
					t.Errorf("E3: %d %s", r.Status, r.Body)
				}
				if r.Status == 503 && (r.Body != unavailable || r.Header.Get("Retry-After") != "1") {
					t.Errorf("E3: %s %v", r.Body, r.Header)
				}
				checkSilent(t, r)
				if e.last(t).Err == nil {
					t.Error("the record does not say what went wrong")
				}
				if part == "access" || part == "caller facts" {
					r = l.send(t, request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer))
					if r.Status != failing.status || called {
						t.Errorf("route: %d %s called=%v", r.Status, r.Body, called)
					}
					checkSilent(t, r)
				}
				broken = false
				if r = l.send(t, question("x")); r.Status != 200 {
					t.Errorf("the next request on the connection: %d %s", r.Status, r.Body)
				}
			})
		}
	}
}

func checkSilent(t *testing.T, r reply) {
	t.Helper()
	for _, word := range []string{secret, "inside", "db-host", "panic", "goroutine", ".go:"} {
		if strings.Contains(r.Body, word) {
			t.Errorf("the answer tells %q: %s", word, r.Body)
		}
	}
	if r.Status == 503 && r.Header.Get("Retry-After") == "" {
		t.Error("a 503 without Retry-After")
	}
}

// TestABoundOfPolicyIsToldApart guarantees that E3 names the bound if policy is out of time or
// memory, and does not if a store is down. At other routes both are the same 503.
func TestABoundOfPolicyIsToldApart(t *testing.T) {
	for _, bound := range []error{resources.ErrPolicyTime, resources.ErrPolicyMemory} {
		undecided := func(context.Context, resources.Question) (resources.Decision, error) {
			return resources.Decision{Allowed: true}, resources.Unavailable("The decision could not be made.", fmt.Errorf("%s: %w", secret, bound))
		}
		e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{undecided, allow}.pin() })
		r := e.send(t, question("x"))
		if want := `{"allowed":false,"reason":"` + bound.Error() + `"}`; r.Status != 503 || r.Body != want || r.Header.Get("Retry-After") != "1" {
			t.Errorf("E3: %d %s, want %s", r.Status, r.Body, want)
		}
		e = start(t, func(c *gateway.Config) { c.Judge.Pin = policy{allow, undecided}.pin() })
		r = e.send(t, request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer))
		if checkSilent(t, r); r.Status != 503 {
			t.Errorf("route: %d %s", r.Status, r.Body)
		}
	}
}

// TestZeroDecisionDenies, at E3 and at a route.
func TestZeroDecisionDenies(t *testing.T) {
	zero := func(context.Context, resources.Question) (resources.Decision, error) {
		return resources.Decision{}, nil
	}
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{zero, allow}.pin() })
	if r := e.send(t, question("x")); r.Body != `{"allowed":false,"reason":""}` {
		t.Errorf("E3: %s", r.Body)
	}
	e = start(t, func(c *gateway.Config) { c.Judge.Pin = policy{allow, zero}.pin() })
	for _, raw := range []string{question("x"), request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer), request("POST", "/public", "")} {
		if r := e.send(t, raw); r.Status != 403 {
			t.Errorf("%.40s: %d", raw, r.Status)
		}
	}
}

// TestBrokenPartsAnswer500: a handler or an authenticator that fails says nothing of
// the inside, and the connection goes on.
func TestBrokenPartsAnswer500(t *testing.T) {
	breakHandler := func(h wire.Handler) func(*gateway.Config) {
		return func(c *gateway.Config) { c.Handlers["access"]["list"] = h }
	}
	for name, change := range map[string]func(*gateway.Config){
		"handler error": breakHandler(func(context.Context, *wire.Request) (wire.Response, error) { return wire.Response{}, errInside }),
		"handler panic": breakHandler(func(context.Context, *wire.Request) (wire.Response, error) { panic(errInside) }),
		"handler out of range": breakHandler(func(_ context.Context, r *wire.Request) (wire.Response, error) {
			return wire.OK(r.Params["none"][:1])
		}),
		"body that is no JSON": breakHandler(func(context.Context, *wire.Request) (wire.Response, error) { return wire.OK(make(chan int)) }),
		"ill-formed raw JSON":  breakHandler(func(context.Context, *wire.Request) (wire.Response, error) { return wire.OK(json.RawMessage("{")) }),
		"authenticator error": func(c *gateway.Config) {
			c.Authn = authn{func(context.Context, string) (resources.Principal, error) { return resources.Principal{}, errInside }}
		},
		"authenticator panic": func(c *gateway.Config) {
			c.Authn = authn{func(context.Context, string) (resources.Principal, error) { panic("inside " + secret) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, change)
			l := e.dial(t)
			r := l.send(t, request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer))
			if r.Status != 500 || !strings.Contains(r.Body, "INTERNAL_ERROR") {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			checkSilent(t, r)
			if rec := e.last(t); rec.Err == nil || rec.Status != 500 {
				t.Errorf("record %+v", rec)
			}
			if r := l.send(t, request("POST", "/public", "")); r.Status != 200 {
				t.Errorf("the next request on the connection: %d", r.Status)
			}
		})
	}
}

// noRandom is a source that fails.
type noRandom struct{}

func (noRandom) Read([]byte) (int, error) { return 0, errInside }

// TestPanicOutsideTheStepsEndsNothing: the server itself recovers nothing, so a panic
// there would end the process.
func TestPanicOutsideTheStepsEndsNothing(t *testing.T) {
	for name, change := range map[string]func(*gateway.Config){
		"no randomness for an id": func(c *gateway.Config) { c.IDs.Random = noRandom{} },
		"the observer":            func(c *gateway.Config) { c.Observe = func(gateway.Record) { panic(errInside) } },
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, change)
			for _, raw := range []string{question("x"), "GET / HTTP/1.1\r\nHost : x\r\n\r\n", question("x")} {
				r := e.send(t, raw)
				if r.Status != 500 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
				checkSilent(t, r)
			}
		})
	}
}
