package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// benchRecord is that of a warm authorization check.
func benchRecord() gateway.Record {
	return gateway.Record{
		RequestID: "01kajx5v2m8q4r6s8t0v2w4x6y", Method: "POST", Path: "/api/v1/authorize/accounts/acct-a-v1/projects/proj-a-v1/instances", Route: "authorization.check",
		Principal: "service-bench", Subject: "user-bob-v1", DecisionID: "01kajx5v2m8q4r6s8t0v2w4x6z", Action: "project:instance:read", Account: "acct-a-v1",
		Status: 200, Allowed: true, Reason: "role project_reader grants project:instance:read", PolicyRevision: "sha256:0123456789ab", At: time.Now(), Duration: 1234567 * time.Nanosecond,
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
			log.access.request(&record)
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
			a.metrics.request(&record)
		}
	})
}

// BenchmarkServe is one warm authorization check of the demo, over loopback, through all that serve puts
// together by default: the embedded store, policy, log and metrics.
func BenchmarkServe(b *testing.B) {
	s, flags := serveFlagSet()
	if err := errors.Join(flags.Set("data-dir", b.TempDir()), s.fill(flags), s.check()); err != nil {
		b.Fatal(err)
	}
	log := newLogs(io.Discard, s.logFormat, s.level)
	b.Cleanup(func() { log.queue.close(flushTime) })
	ctx, stop := context.WithCancel(context.Background())
	b.Cleanup(stop)
	a, err := s.assemble(ctx, log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.store.Close() })
	if _, err := a.makeDemo(ctx); err != nil {
		b.Fatal(err)
	}
	beside := a.runBackground()
	b.Cleanup(beside.end)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = a.edge.Listen(l) }()
	b.Cleanup(func() { _ = s.stop(a, s.healthServer(a, func() bool { return true })) })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		b.Fatal(err)
	}
	token, err := signer.Sign(authn.TokenRequest{Subject: "service-bench", Scopes: []string{resources.ServiceScopeCheck}, TTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	question := fmt.Appendf(nil, "POST /api/v1/authorize/accounts/%s/projects/%s/instances HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n"+
		"X-User-ID: %s\r\nX-Account-ID: %s\r\nX-Action: project:instance:read\r\n\r\n", demoAccount, demoProject, token, demoBob, demoAccount)
	answers, buffer := bufio.NewReader(c), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(question); err != nil {
			b.Fatal(err)
		}
		n, err := answers.Read(buffer) // an answer is one write, and so one read here
		if answer := string(buffer[:n]); err != nil || !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.Contains(answer, `"allowed":true`) {
			b.Fatalf("%s %v", answer, err)
		}
	}
}
