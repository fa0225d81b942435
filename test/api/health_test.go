package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestProbesOfAHealthyGateway: 200 with exactly the specified fields, also
// under /api/v1.
func TestProbesOfAHealthyGateway(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	for _, prefix := range []string{"", "/api/v1"} {
		r := harness.Call(t, "GET", g.HealthURL+prefix+"/healthz/live", "", "")
		harness.WantFields(t, "liveness", r.Body, "status", "service", "version", "timestamp")
		harness.WantTimes(t, r.Body, "timestamp")
		if r.Status != 200 || r.Body["status"] != "live" || r.Body["service"] != "portcullis" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		r = harness.Call(t, "GET", g.HealthURL+prefix+"/healthz/ready", "", "")
		harness.WantFields(t, "readiness", r.Body, "status", "service", "version", "timestamp", "checks")
		harness.WantFields(t, "the checks", r.Body["checks"], "database", "accounts_service", "notification_service")
		if r.Status != 200 || r.Body["status"] != "ready" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		for _, name := range harness.Fields(r.Body["checks"]) {
			check := harness.At(r.Body, "checks", name)
			harness.WantFields(t, name, check, "status", "latency")
			latency, _ := harness.At(check, "latency").(string)
			if _, err := time.ParseDuration(latency); err != nil || !strings.HasSuffix(latency, "ms") || harness.At(check, "status") != "healthy" {
				t.Errorf("%s: %v", name, check)
			}
		}
	}
}

// TestReadinessLooksAtItsNeighboursAtOnce has one neighbour down and one hang. The answer is 503
// after about two seconds, the time of one check, or some more on a busy machine. The gateway stays
// alive.
func TestReadinessLooksAtItsNeighboursAtOnce(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	redirecting := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	t.Cleanup(func() { close(stop); hanging.Close(); redirecting.Close() })
	g := harness.Start(t, "--accounts-url", redirecting.URL, "--notifications-url", hanging.URL)
	started := time.Now()
	r := harness.Call(t, "GET", g.HealthURL+"/healthz/ready", "", "")
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if r.Status != 503 || r.Body["status"] != "not_ready" || harness.At(r.Body, "checks", "database", "status") != "healthy" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	for _, name := range []string{"accounts_service", "notification_service"} {
		harness.WantFields(t, name, harness.At(r.Body, "checks", name), "status", "latency", "error")
		if harness.At(r.Body, "checks", name, "status") != "unhealthy" {
			t.Errorf("%s: %s", name, r.Raw)
		}
	}
	if r := harness.Call(t, "GET", g.HealthURL+"/healthz/live", "", ""); r.Status != 200 {
		t.Errorf("liveness: %d %s", r.Status, r.Raw)
	}
}

// TestMetricsTellOfRequestsAndDecisions; profiles are there when they were asked for only.
func TestMetricsTellOfRequestsAndDecisions(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Allowed(t, s.Admin, "project:x:read", "")
	s.Allowed(t, s.Bob, "project:x:read", "")
	harness.Call(t, "GET", s.URL+"/nowhere/"+s.Account, "", "")
	text := harness.MetricsOf(t, s.Gateway)
	for _, want := range []string{
		`portcullis_requests_total{route="authorization.check",status="200"}`, `portcullis_requests_total{route="none",status="404"}`, `portcullis_requests_total{route="account.create",status="201"}`,
		`portcullis_request_duration_seconds_bucket{route="authorization.check",`, `portcullis_decisions_total{code="role",decision="allow",door="authorization"}`, `portcullis_decisions_total{code="no_role",decision="deny",door="authorization"}`,
		`portcullis_policy_evaluation_duration_seconds_count{entry="decision"}`, `portcullis_policy_reloads_total{result="refused"} 0`, `portcullis_policy_info{revision="`, "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, s.Account) || strings.Contains(text, s.Bob) {
		t.Error("an id is a label")
	}
	if r := harness.Call(t, "GET", s.HealthURL+"/debug/pprof/", "", ""); r.Status != 404 {
		t.Errorf("profiles without --pprof: %d", r.Status)
	}
}
