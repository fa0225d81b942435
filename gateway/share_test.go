package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestOneAccountLeavesPlacesToOthers guarantees that users of one account can't take all places for requests, here or
// at an upstream. The last eighth is for services, and for users of accounts with less than half. What is refused
// counts for nobody afterwards.
func TestOneAccountLeavesPlacesToOthers(t *testing.T) {
	const places, remaining = 16, 2
	for gated, path := range map[string]string{"requests": "/api/v1/accounts/acct-a-v1/roles", "upstream things": "/api/v1/projects/proj-p-v1/things/x"} {
		t.Run(gated, func(t *testing.T) {
			entered, leave := make(chan bool, 2*places), make(chan bool)
			up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- true; <-leave }))
			defer up.Close()
			base := must.Get(url.Parse(up.URL))(t)
			e := start(t, func(c *gateway.Config) {
				c.Limits.Requests, c.Authn, c.Upstreams["things"] = places, authn{anybody}, base
				c.Handlers["access"]["list"] = func(context.Context, *wire.Request) (wire.Response, error) {
					entered <- true
					<-leave
					return wire.OK("done")
				}
			})
			ask := func(token string) reply {
				return e.send(t, strings.Replace(request("GET", path, "", bearer), bearer, "Authorization: Bearer "+token, 1))
			}
			done := make(chan reply, places)
			enter := func(token string) {
				go func() { done <- ask(token) }()
				<-entered
			}
			for i := range places - remaining {
				enter(fmt.Sprintf("user-%d-v1.acct-a-v1", i))
			}
			for range 3 {
				if r := ask("user-x-v1.acct-a-v1"); r.Status != 503 || r.Header.Get("Retry-After") != "1" {
					t.Errorf("one more of the account: %d %s", r.Status, r.Body)
				}
			}
			enter("user-y-v1.acct-b-v1")
			enter("service-s")
			if r := ask("user-z-v1.acct-c-v1"); r.Status != 503 {
				t.Errorf("one more than there are places: %d", r.Status)
			}
			close(leave)
			for range places {
				if r := <-done; r.Status != 200 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			}
			for range places - remaining { // of nobody's account
				must.Do(t, e.Gates()[gated].TryEnter())
			}
			for range places {
				if r := ask("user-x-v1.acct-a-v1"); r.Status != 200 {
					t.Fatalf("when the account has left: %d %s", r.Status, r.Body)
				}
				<-entered
			}
		})
	}
}

// TestOneAccountLeavesPlacesToOthersWhoWait guarantees that an account beyond its share of waiting clients gets an
// answer at once. Another account's client waits.
func TestOneAccountLeavesPlacesToOthersWhoWait(t *testing.T) {
	const places, remaining = 16, 2
	for account, asked := range map[string]int64{"acct-a-v1": 1, "acct-b-v1": 2} {
		e, times, _ := waiting(t, 2, time.Minute, func(c *gateway.Config) { c.Limits.Requests, c.Authn = places, authn{anybody} })
		for range places - remaining {
			must.Do(t, errors.Join(e.Waiting().TryEnter(), e.Waiting().Share("acct-a-v1")))
		}
		r := e.overTCP(t).send(t, strings.Replace(listRequest, bearer, "Authorization: Bearer user-u-v1."+account, 1))
		if r.Status != 200 || times.Load() != asked || e.Waiting().Inside() != places-remaining {
			t.Errorf("%s: %d, asked %d times, want %d", account, r.Status, times.Load(), asked)
		}
	}
}

// TestOneAccountLeavesPlacesOfAKindToOthers guarantees a refusal for an account beyond its share of the waiters for a
// kind of response. Another account's client waits.
func TestOneAccountLeavesPlacesOfAKindToOthers(t *testing.T) {
	const places, remaining = 16, 2
	waiters := gate.New(places, 0)
	e := start(t, func(c *gateway.Config) {
		c.Authn = authn{anybody}
		c.Handlers["access"]["list"] = func(context.Context, *wire.Request) (wire.Response, error) {
			return wire.Response{Status: 200, Body: map[string]any{}, Wait: time.Millisecond, Waiters: waiters}, nil
		}
	})
	for range places - remaining {
		must.Do(t, errors.Join(waiters.TryEnter(), waiters.Share("acct-a-v1")))
	}
	for account, want := range map[string]int{"acct-a-v1": 503, "acct-b-v1": 200} {
		r := e.overTCP(t).send(t, strings.Replace(listRequest, bearer, "Authorization: Bearer user-u-v1."+account, 1))
		if r.Status != want || waiters.Inside() != places-remaining {
			t.Errorf("%s: %d, want %d", account, r.Status, want)
		}
	}
}

// TestAnAccountIsCountedWhereItIs guarantees that a user without an account is counted by themselves.
func TestAnAccountIsCountedWhereItIs(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Limits.Requests = 1
		c.Authn = authn{func(context.Context, string) (resources.Principal, error) {
			return resources.Principal{Kind: resources.PrincipalUser, ID: "user-u-v1", Credential: resources.CredentialToken}, nil
		}}
	})
	for range 3 {
		if r := e.send(t, question("x")); r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}
