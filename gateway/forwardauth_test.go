package gateway_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/forwardauth"
	"github.com/portcullis-authz/portcullis/resources"
)

// asking has an edge answer proxies about calls of its own catalogue.
func asking(c *gateway.Config) {
	c.SubRequests = map[string]doors.SubRequest{"forward_auth.check": forwardauth.InHeaders, "forward_auth.verify": forwardauth.InPath}
	for name, path := range map[string]string{"forward_auth.check": "/forward-auth", "forward_auth.verify": "/verify/{proxy+}"} {
		c.Catalogue = append(c.Catalogue, resources.Route{Name: name, Method: "*", Path: path, Access: []string{"asks_self"}, Upstream: "authorize"})
	}
}

// TestAProxyIsToldThatThereIsNoVerdict: 503 with Retry-After, in each way to fail and to ask.
func TestAProxyIsToldThatThereIsNoVerdict(t *testing.T) {
	const list = "/api/v1/accounts/acct-a-v1/roles"
	for name, failing := range failures() {
		t.Run(name, func(t *testing.T) {
			broken := true
			e := start(t, func(c *gateway.Config) {
				c.Judge.Pin = policy{allow, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
					d, _ := allow(ctx, q)
					if broken {
						return d, failing.fail()
					}
					return d, nil
				}}.pin()
			}, asking)
			for _, raw := range []string{
				request("GET", "/verify"+list, "", bearer),
				request("GET", "/forward-auth", "", bearer, "X-Original-Method: GET", "X-Original-URI: "+list),
			} {
				broken = true
				r := e.send(t, raw)
				if r.Status != failing.status || (r.Header.Get("Retry-After") != "") != (failing.status == 503) || r.Header.Get("X-User-ID") != "" {
					t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
				}
				broken = false
				if r := e.send(t, raw); r.Status != 200 || r.Header.Get("X-User-ID") != "user-alice-v1" {
					t.Errorf("afterwards: %d %s %v", r.Status, r.Body, r.Header)
				}
			}
		})
	}
}

// TestOrderOfRefusalsOfAProxysCall is framing, 401, 429, 404, 400, 403; no body is too large.
func TestOrderOfRefusalsOfAProxysCall(t *testing.T) {
	checkOrderOf(t, func() draft {
		return draft{method: "GET", target: "/verify/api/v1/accounts/acct-a-v1/roles", headers: []string{bearer}}
	}, []fault{
		framingFault, tokenFault, busyFault,
		{"404", 404, func(d *draft) { d.target += "/none" }},
		{"400 claim", 400, func(d *draft) { d.add("X-User-ID: user-else-v1") }},
		deniedFault,
	}, asking)
}

// TestAPublicCallNeedsNoCredential, and is held to no rate, like a public route.
func TestAPublicCallNeedsNoCredential(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Rates.Principal = limiter(t, "1/h,1") }, asking)
	for range 3 {
		for _, credential := range []string{"X-Nothing: 1", "Authorization: Bearer " + badToken, bearer} {
			if r := e.send(t, request("POST", "/verify/public", "", credential)); r.Status != 200 || r.Header.Get("X-User-ID") != "" {
				t.Errorf("%s: %d %s", credential, r.Status, r.Body)
			}
		}
	}
	for _, target := range []string{"/verify/public/", "/verify//public", "/verify/none", "/verify/", "/forward-auth"} {
		if r := e.send(t, request("POST", target, "")); r.Status != 401 {
			t.Errorf("%s: %d %s", target, r.Status, r.Body)
		}
	}
}
