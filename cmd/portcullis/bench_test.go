package main

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// benchRecord is that of a warm E3.
func benchRecord() gateway.Record {
	return gateway.Record{
		RequestID: "01kajx5v2m8q4r6s8t0v2w4x6y", Method: "POST", Path: "/api/v1/authorize/accounts/acct-a-v1/projects/proj-a-v1/instances", Route: "E3",
		Principal: "service-bench", Subject: "user-bob-v1", DecisionID: "01kajx5v2m8q4r6s8t0v2w4x6z", Action: "project:instance:read", Account: "acct-a-v1",
		Status: 200, Allowed: true, Reason: "role project_reader grants project:instance:read", PolicyRevision: "sha256:0123456789ab", Duration: 1234567 * time.Nanosecond,
	}
}

// BenchmarkObserve is what is counted and logged of one request.
func BenchmarkObserve(b *testing.B) {
	log := newLogs(io.Discard, "json", slog.LevelInfo)
	b.Cleanup(func() { log.queue.close(flushTime) })
	a := &app{log: log, metrics: newMetrics()}
	record := benchRecord()
	b.Run("log", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			log.access.request(time.Now(), record)
		}
	})
	b.Run("log through the handler", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			accessLine(log.access.handler, time.Now(), record)
		}
	})
	b.Run("metrics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.metrics.request(record)
		}
	})
}
