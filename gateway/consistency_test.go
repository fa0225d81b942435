package gateway_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestStrictConsistencyIsAskedOfTheFacts, for the caller's own as for the question's; any
// other value is a 400, and no decision is made on facts of a lease meanwhile.
func TestStrictConsistencyIsAskedOfTheFacts(t *testing.T) {
	var strict []bool
	e := start(t, func(c *gateway.Config) {
		c.Judge.Facts = facts{func(ctx context.Context, account, user, _ string) (resources.Facts, error) {
			strict = append(strict, resources.IsStrict(ctx))
			return resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
		}}
	})
	roles := "/api/v1/accounts/acct-a-v1/roles"
	question := []string{bearer, "X-User-ID: user-a-v1", "X-Account-ID: acct-a-v1", "X-Action: project:thing:read"}
	for name, c := range map[string]struct {
		raw    string
		status int
		strict bool
	}{
		"not asked for":           {request("GET", roles, "", bearer), 200, false},
		"asked for":               {request("GET", roles, "", bearer, "X-Consistency: strict"), 200, true},
		"twice":                   {request("GET", roles, "", bearer, "X-Consistency: strict", "x-consistency: strict"), 400, true},
		"second spelling":         {request("GET", roles, "", bearer, "X_Consistency: strict"), 400, false},
		"both spellings":          {request("GET", roles, "", bearer, "X-Consistency: strict", "X_Consistency: strict"), 400, true},
		"padded":                  {request("GET", roles, "", bearer, "X-Consistency: strict "), 400, true},
		"another value":           {request("GET", roles, "", bearer, "X-Consistency: Strict"), 400, true},
		"blank":                   {request("GET", roles, "", bearer, "X-Consistency: "), 400, true},
		"a question":              {request("POST", "/api/v1/authorize/x", "", append(question, "X-Consistency: strict")...), 200, true},
		"a question, not asked":   {request("POST", "/api/v1/authorize/x", "", question...), 200, false},
		"a question, twice":       {request("POST", "/api/v1/authorize/x", "", append(question, "X-Consistency: strict", "X-Consistency: strict")...), 400, true},
		"a question, spelt so":    {request("POST", "/api/v1/authorize/x", "", append(question, "x_consistency: strict")...), 400, true},
		"a question, other value": {request("POST", "/api/v1/authorize/x", "", append(question, "X-Consistency: eventual")...), 400, true},
	} {
		t.Run(name, func(t *testing.T) {
			strict = nil
			if r := e.send(t, c.raw); r.Status != c.status {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if c.status == 200 && len(strict) == 0 {
				t.Error("no facts were asked for")
			}
			for _, s := range strict {
				if s != c.strict {
					t.Errorf("facts were asked for with strict %v", s)
				}
			}
		})
	}
}
