package api_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestStatusTellsOfEachPart guarantees the reason of a refused policy, and no null for an existing
// part.
func TestStatusTellsOfEachPart(t *testing.T) {
	t.Parallel()
	policies := harness.CopyPolicies(t)
	g := harness.Start(t, "--policy-dir", policies).Each()[0]
	status := func() harness.Reply { return harness.Call(t, "GET", g.HealthURL+"/status", "", "") }
	r := status()
	harness.WantFields(t, "status", r.Body, "version", "policy", "stores", "lease", "redis", "key_sets", "caches", "outbox", "decision_log", "shadow")
	harness.WantFields(t, "policy", r.Body["policy"], "revision", "since", "refused")
	if r.Status != 200 || harness.At(r.Body, "policy", "refused") != nil || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	store, _ := r.Body["stores"].([]any)[0].(map[string]any)
	if name := map[bool]string{true: "mongodb", false: "sqlite"}[harness.OnMongoDB()]; store["name"] != name || store["state"] != "ready" || store["read_only"] != false {
		t.Errorf("the store is %v", store)
	}
	if harness.MetricOf(t, g, `portcullis_store_state{state="ready"}`) != 1 || harness.MetricOf(t, g, `portcullis_store_state{state="lost"}`) != 0 {
		t.Error("the metric of the store's state differs")
	}
	harness.WriteFile(t, filepath.Join(policies, "authz", "broken.rego"), "package authz\n\nallow if {")
	harness.Soon(t, "the refusal is told", func() bool { return harness.At(status().Body, "policy", "refused") != nil })
	r = status()
	reasons, _ := harness.At(r.Body, "policy", "refused", "reasons").([]any)
	if len(reasons) == 0 || !strings.Contains(reasons[0].(string), "broken.rego") || harness.At(r.Body, "policy", "refused", "at") == nil {
		t.Errorf("%s", r.Raw)
	}
	if r := harness.Call(t, "GET", g.URL+"/status", "", ""); r.Status != 404 {
		t.Errorf("at the edge: %d", r.Status)
	}
}

// TestUnauthorizedRequestsAreCountedByTheirReason guarantees it; the client does not see the reason.
func TestUnauthorizedRequestsAreCountedByTheirReason(t *testing.T) {
	t.Parallel()
	g := harness.Start(t).Each()[0]
	token := g.ServiceToken(t, "authz:check")
	for reason, headers := range map[string][]string{
		"no_credential": nil,
		"malformed":     {"Authorization", "Bearer x"},
		"signature":     {"Authorization", "Bearer " + harness.OtherEnding(token)},
		"unknown_user":  {"Authorization", "Bearer " + g.UserToken(t, "user-nobody-v1")},
	} {
		name := `portcullis_unauthorized_total{reason="` + reason + `"}`
		before := harness.MetricOf(t, g, name)
		r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-none-v1", "", "", headers...)
		if after := harness.MetricOf(t, g, name); r.Status != 401 || after != before+1 {
			t.Errorf("%s: %d, and %g is counted after %g", reason, r.Status, after, before)
		}
	}
}
