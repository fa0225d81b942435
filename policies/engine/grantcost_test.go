package engine_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/test/must"
)

// steps counts what an evaluation does, the elements that it goes through included.
type steps struct{ n int }

func (*steps) Enabled() bool               { return true }
func (s *steps) TraceEvent(topdown.Event)  { s.n++ }
func (*steps) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TestAGrantTakesAsMuchAsItsPatterns guarantees that ten times the patterns take about ten
// times the work: what the caller holds is not searched for each of them.
func TestAGrantTakesAsMuchAsItsPatterns(t *testing.T) {
	few, many := stepsOfGrant(t, 20), stepsOfGrant(t, 200)
	if t.Logf("%d and %d steps", few, many); many > 15*few {
		t.Errorf("%d steps for 200 patterns, %d for 20", many, few)
	}
}

// stepsOfGrant has a caller give away all of one role, without being an admin.
func stepsOfGrant(t *testing.T, patterns int) int {
	t.Helper()
	held := map[string]any{}
	for i := range patterns {
		held[fmt.Sprintf("project:thing%d:read", i)] = true
	}
	user := map[string]any{"kind": "user", "id": "u", "credential": "token"}
	counted := &steps{}
	options := []func(*rego.Rego){
		rego.Query("data.authz.grantable.allow"), rego.QueryTracer(counted),
		rego.Store(inmem.NewFromObject(map[string]any{"grants": map[string]any{}})),
		rego.Input(map[string]any{
			"principal": user, "account": map[string]any{"named": true, "exists": true, "status": "ACTIVE"},
			"action": map[string]any{"id": "", "scope": ""}, "target": map[string]any{"level": "account", "same_account": true, "project_state": ""},
			"grant": map[string]any{"permissions": held, "until": 1}, "agent": map[string]any{"named": false},
			"subject": map[string]any{
				"named": true, "exists": true, "status": "ACTIVE", "member": true, "is_caller": true,
				"here": []any{map[string]any{
					"role": "r", "custom": true, "level": "ACCOUNT", "role_scope": "ACCOUNT", "role_status": "ACTIVE",
					"status": "ACTIVE", "running": true, "outlasts_grant": true, "permissions": held,
				}},
			},
		}),
	}
	rules := must.Get(fs.Glob(policies.Tree(), "authz/*.rego"))(t)
	for _, name := range rules {
		text := must.Get(fs.ReadFile(policies.Tree(), name))(t)
		if !strings.HasSuffix(name, "_test.rego") {
			options = append(options, rego.Module(name, string(text)))
		}
	}
	results, err := rego.New(options...).Eval(t.Context())
	if err != nil || !results.Allowed() {
		t.Fatalf("got %+v, %v", results, err)
	}
	return counted.n
}
