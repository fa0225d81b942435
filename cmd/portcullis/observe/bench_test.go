package observe

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// benchRecord returns the record of a cached authorization check.
func benchRecord() gateway.Record {
	return gateway.Record{
		RequestID: "01kajx5v2m8q4r6s8t0v2w4x6y", Method: "POST", Path: "/api/v1/authorize/accounts/acct-a-v1/projects/proj-a-v1/instances", Route: "authorization.check",
		Principal: "service-bench", Subject: "user-bob-v1", DecisionID: "01kajx5v2m8q4r6s8t0v2w4x6z", Action: "project:instance:read", Account: "acct-a-v1",
		Status: 200, Allowed: true, Reason: "role project_reader grants project:instance:read", PolicyRevision: "sha256:0123456789ab", At: time.Now(), Duration: 1234567 * time.Nanosecond,
	}
}

// BenchmarkObserve measures the line and the counts of one request.
func BenchmarkObserve(b *testing.B) {
	log, metrics := NewLog(io.Discard, FormatJSON, slog.LevelInfo), NewMetrics()
	b.Cleanup(log.Close)
	record := benchRecord()
	b.Run("log", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			log.Request(&record)
		}
	})
	b.Run("log through the handler", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			accessLine(log.access.handler, &record)
		}
	})
	b.Run("metrics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			metrics.Request(&record)
		}
	})
}
