package gateway_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// claiming is an edge whose one route wants true claims and ids of a form.
func claiming(t *testing.T) *edge {
	return start(t, func(c *gateway.Config) {
		c.Catalogue = []resources.Route{{
			Name: "wall", Method: "GET", Path: "/api/v1/accounts/{accountId:acct}/projects/{projectId:proj}/walls/{id}",
			Action: "project:wall:read", Claims: true, Area: "firewall", Upstream: "access",
		}}
		c.Handlers, c.Upstreams = map[string]wire.Routes{"access": {"wall": ok}}, nil
	})
}

const wall = "/api/v1/accounts/acct-a-v1/projects/proj-a-v1/walls/w"

func TestClaimsMustBeTrue(t *testing.T) {
	e := claiming(t)
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"the account":                  {[]string{"x-account-id: acct-a-v1"}, 200},
		"the account and the caller":   {[]string{"X-Account-ID: acct-a-v1", "X-User-ID: user-alice-v1"}, 200},
		"no account":                   {nil, 401},
		"no account, but the caller":   {[]string{"X-User-ID: user-alice-v1"}, 401},
		"a blank account":              {[]string{"X-Account-ID: "}, 401},
		"another account":              {[]string{"X-Account-ID: acct-b-v1"}, 401},
		"other letters":                {[]string{"X-Account-ID: ACCT-A-V1"}, 401},
		"another user":                 {[]string{"X-Account-ID: acct-a-v1", "X-User-ID: user-bob-v1"}, 401},
		"a blank user":                 {[]string{"X-Account-ID: acct-a-v1", "X-User-ID: "}, 401},
		"the account twice":            {[]string{"X-Account-ID: acct-a-v1", "X-Account-ID: acct-a-v1"}, 400},
		"two accounts":                 {[]string{"X-Account-ID: acct-a-v1", "X-Account-ID: acct-b-v1"}, 400},
		"the user twice":               {[]string{"X-Account-ID: acct-a-v1", "X-User-ID: user-alice-v1", "X-User-ID: user-alice-v1"}, 400},
		"under another header's name":  {[]string{"X_Account_ID: acct-a-v1"}, 401},
		"the account also in disguise": {[]string{"X-Account-ID: acct-a-v1", "X_Account_ID: acct-b-v1"}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.send(t, request("GET", wall, "", append(c.headers, bearer)...))
			if r.Status != c.want {
				t.Errorf("%d %s, want %d", r.Status, r.Body, c.want)
			}
			if r.Status == 401 && r.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("a 401 without WWW-Authenticate")
			}
		})
	}
}

func TestIdsMustHaveTheirForm(t *testing.T) {
	e := claiming(t)
	for path, want := range map[string]int{
		"/api/v1/accounts/acct-a-v1/projects/proj-A9-v1/walls/w_1":  200,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v2/walls/w":     400,
		"/api/v1/accounts/acct-a-v1/projects/proj--v1/walls/w":      400,
		"/api/v1/accounts/acct-a-v1/projects/proj-a_b-v1/walls/w":   400,
		"/api/v1/accounts/acct-a-v1/projects/Proj-a-v1/walls/w":     400,
		"/api/v1/accounts/acct-a-v1/projects/acct-a-v1/walls/w":     400,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v1x/walls/w":    400,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v1/walls/w:a":   400,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v1/walls/%22":   400,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v1/walls/":      404,
		"/api/v1/accounts/acct-a-v1/projects/proj-a-v1/walls/w?a=b": 200,
	} {
		if r := e.send(t, request("GET", path, "", bearer, "X-Account-ID: acct-a-v1")); r.Status != want {
			t.Errorf("%s: %d %s, want %d", path, r.Status, r.Body, want)
		}
	}
	// An account that is not of the form is what the header says too: then the form is what is wrong.
	if r := e.send(t, request("GET", "/api/v1/accounts/acct_a/projects/proj-a-v1/walls/w", "", bearer, "X-Account-ID: acct_a")); r.Status != 400 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
