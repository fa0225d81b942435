package tracing_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestAnOutageOfTheCollectorIsReportedOnce guarantees one report for exports that fail in a row, and one for the next
// outage.
func TestAnOutageOfTheCollectorIsReportedOnce(t *testing.T) {
	var down atomic.Bool
	var exports, reports atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		exports.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusBadRequest) // which the exporter does not try again
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	tracer := must.Get(tracing.Start(t.Context(), variables("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL), false, "test", func(error) { reports.Add(1) }))(t)
	several := func(fail bool) {
		down.Store(fail)
		for end := exports.Load() + 3; exports.Load() < end; time.Sleep(time.Millisecond) {
			request(tracer, nil)
		}
	}
	for _, fail := range []bool{true, false, true} {
		several(fail)
	}
	must.Do(t, tracer.Close())
	if n := reports.Load(); n != 2 {
		t.Errorf("%d reports of two outages", n)
	}
}
