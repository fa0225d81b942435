package explain_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestADocumentIsJudgedAsTheGatewayDoes guarantees that a strict tree denies a document about an unlisted action, with the
// code and the reason of the gateway. The rules judge a listed action.
func TestADocumentIsJudgedAsTheGatewayDoes(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree()).With("actions/data.json", `{"strict": true}`)
	e := must.Get(engine.New(t.Context(), tree, proof.LoadProven, engine.Options{}))(t)
	set, _, err := proof.Compile(t.Context(), e.Source())
	must.Do(t, err)
	for action, allowed := range map[string]bool{"account:authorization:check": true, "account:volcano:read": false} {
		d := must.Get(explain.ReadDocument([]byte(`{
  "action": {"id": "` + action + `"}, "account": {"id": "acct-demo-v1", "exists": true, "status": "ACTIVE"}, "now": 1000,
  "principal": {"kind": "user", "id": "user-bob-v1", "account": "acct-demo-v1", "credential": "token"},
  "subject": {"id": "user-bob-v1", "exists": true, "status": "ACTIVE", "member": true, "assignments": {"": {"": [
    {"role": "account_admin", "role_scope": "ACCOUNT", "role_status": "ACTIVE", "status": "ACTIVE"}
  ]}}}
}`)))(t)
		got := must.Get(d.Judge(t.Context(), set))(t)
		want := must.Get(e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), action)))(t)
		if got.Allowed != allowed || got.Allowed != want.Allowed || got.Code != want.Code || got.Reason != want.Reason {
			t.Errorf("%s: got %+v, the gateway answers %+v", action, got, want)
		}
	}
}
