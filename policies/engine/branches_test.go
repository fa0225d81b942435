package engine_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestOneVerdictForAServiceWhoeverItAsksAbout guarantees that what the embedded tree looks at for users only
// tells the questions of services not apart, and those of users still.
func TestOneVerdictForAServiceWhoeverItAsksAbout(t *testing.T) {
	for kind, want := range map[string]int{resources.PrincipalService: 1, resources.PrincipalUser: 2, resources.PrincipalNone: 1, "": 1, "robot": 1} {
		t.Run("as "+kind, func(t *testing.T) {
			e := newCounted(t, policytest.Copy(t, policies.Tree()), 0)
			for _, user := range []string{"user-bob-v1", "user-eve-v1", "user-joe-v1"} {
				q := policytest.Question(policytest.AdminSubject(), "")
				q.Principal = resources.Principal{
					Kind: kind, ID: "user-eve-v1", Credential: resources.CredentialToken, Scopes: []string{resources.ServiceScopeCheck},
				}
				q.Route = &resources.Route{Name: "authorization.check", Access: []string{"asks_self", "service:authz:check"}, Effect: "read"}
				q.Target = resources.Target{UserID: user}
				d, err := e.Access(t.Context(), q)
				allowed := kind == resources.PrincipalService || kind == resources.PrincipalUser && user == q.Principal.ID
				if err != nil || d.Allowed != allowed {
					t.Errorf("%s: %+v, %v", user, d, err)
				}
			}
			if e.evaluated != want {
				t.Errorf("%d evaluations of three questions, want %d", e.evaluated, want)
			}
		})
	}
}
