package faults_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAPolicyBundleIsFollowed: a new one is in force soon and names itself in answers, a bad one changes nothing, and
// a gateway that starts without the source decides by the last good one.
func TestAPolicyBundleIsFollowed(t *testing.T) {
	t.Parallel()
	policies, data := harness.CopyPolicies(t), t.TempDir()
	var served atomic.Pointer[[]byte]
	serve := func(bundle []byte) { served.Store(&bundle) }
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(*served.Load()) }))
	t.Cleanup(source.Close)
	settings := []string{"--policy-bundle", source.URL + "/policies.tar.gz", "--policy-bundle-poll", "200ms"}

	serve(harness.Bundle(t, policies, "v1"))
	s := harness.NewScene(t, harness.StartIn(t, data, settings...))
	ask := func(g *harness.Gateway) harness.Reply {
		scene := *s
		scene.Gateway = g
		return scene.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
	}
	first := ask(s.Gateway)
	if first.Body["allowed"] != true || first.Header.Get("X-Policy-Bundle-Revision") != "v1" || first.Header.Get("X-Policy-Revision") == "" {
		t.Fatalf("%s with %v", first.Raw, first.Header)
	}

	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano_test.rego"), harness.FreezeTest)
	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano.rego"), harness.FreezeRule)
	serve(harness.Bundle(t, policies, "v2"))
	for _, p := range s.Each() {
		harness.SoonWithin(t, reloadWithin, "the new bundle decides", func() bool { return ask(p).Body["allowed"] == false })
		second := ask(p)
		if second.Header.Get("X-Policy-Bundle-Revision") != "v2" || second.Header.Get("X-Policy-Revision") == first.Header.Get("X-Policy-Revision") {
			t.Errorf("revisions %v, then %v", first.Header, second.Header)
		}
	}

	harness.WriteFile(t, filepath.Join(policies, "authz", "broken.rego"), strings.ReplaceAll(harness.FreezeRule, "input.action", "input.acton"))
	serve(harness.Bundle(t, policies, "v3"))
	for _, p := range s.Each() {
		harness.SoonWithin(t, reloadWithin, "the log says why", func() bool { return strings.Contains(p.Stderr.String(), "policy change refused") })
		if r := ask(p); r.Header.Get("X-Policy-Bundle-Revision") != "v2" || r.Body["allowed"] != false {
			t.Errorf("after a bad bundle: %s with %v", r.Raw, r.Header)
		}
	}
	if m := harness.MetricsOf(t, s.Gateway); !strings.Contains(m, `portcullis_policy_bundle_polls_total{result="refused"}`) {
		t.Error("the metric does not count the refusal")
	}

	s.Kill(t)
	source.Close()
	again := harness.StartIn(t, data, settings...)
	if r := ask(again); r.Header.Get("X-Policy-Bundle-Revision") != "v2" || r.Body["allowed"] != false {
		t.Errorf("after a start without the source: %s with %v", r.Raw, r.Header)
	}
}
