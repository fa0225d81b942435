package gateway_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestNoDoorCallsWhatItMustNot guarantees that a door's call inside the gateway finds routes with a caller of this process
// alone: no public route, no upstream, no question about another call, and no protected door.
func TestNoDoorCallsWhatItMustNot(t *testing.T) {
	open, closed := start(t, asking), protected(t, fine)
	for name, c := range map[string]struct {
		*edge
		method, target string
		status         int
	}{
		"a handler":               {open, "GET", "/api/v1/accounts/acct-a-v1/roles", 200},
		"a public route":          {open, "POST", "/public", 404},
		"an upstream":             {open, "GET", "/api/v1/projects/proj-a-v1/things/x", 404},
		"an upstream for all":     {open, "GET", "/open/x", 404},
		"a question of a proxy":   {open, "GET", "/verify/api/v1/accounts/acct-a-v1/roles", 404},
		"a door with its own URL": {closed, "POST", "/mcp/github", 404},
		"no route":                {open, "GET", "/nowhere", 404},
		"another host's line":     {open, "GET", "http://evil.example/api/v1/accounts/acct-a-v1/roles", 400},
		"two lines":               {open, "GET", "/api/v1/accounts/acct-a-v1/roles HTTP/1.1\r\nX-Account-ID: acct-b-v1", 400},
	} {
		a := c.Inside(t.Context(), &doors.Inside{
			Caller: resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", AccountID: "acct-a-v1"}, RequestID: "r", Method: c.method, Target: c.target,
		})
		if a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}
