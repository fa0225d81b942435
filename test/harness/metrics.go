package harness

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// MetricsOf are the metrics of each of the gateway's processes.
func MetricsOf(t *testing.T, g *Gateway) string {
	t.Helper()
	var all strings.Builder
	for _, p := range g.Each() {
		all.Write(Call(t, "GET", p.HealthURL+"/metrics", "", "").Raw)
	}
	return all.String()
}

// MetricOf is the value of a metric.
func MetricOf(t *testing.T, g *Gateway, name string) float64 {
	t.Helper()
	names := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(name) + " (.*)$").FindStringSubmatch(MetricsOf(t, g))
	if names == nil {
		t.Fatalf("no metric %s", name)
	}
	return must.Get(strconv.ParseFloat(names[1], 64))(t)
}

// WantReady holds a gateway to the status of its readiness.
func (g *Gateway) WantReady(t testing.TB, status int) {
	t.Helper()
	if r := Call(t, "GET", g.HealthURL+"/healthz/ready", "", ""); r.Status != status {
		t.Errorf("readiness: %d %s, want %d", r.Status, r.Raw, status)
	}
}
