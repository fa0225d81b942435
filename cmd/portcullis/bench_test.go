package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// BenchmarkServe is one warm authorization check of the demo, over loopback, through all that serve puts
// together by default: the embedded store, policy, log and metrics.
func BenchmarkServe(b *testing.B) {
	settings, flags := serveSettings()
	if err := errors.Join(flags.Set("data-dir", b.TempDir()), flags.Set("demo", "true"), settings.Fill(flags), refuse(settings.Validate())); err != nil {
		b.Fatal(err)
	}
	log := observe.NewLog(io.Discard, settings.Log.Format, settings.Log.Level())
	b.Cleanup(log.Close)
	ctx, stop := context.WithCancel(context.Background())
	b.Cleanup(stop)
	a, err := assemble(ctx, settings, log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.store.Close() })
	if _, err := makeDemo(ctx, a); err != nil {
		b.Fatal(err)
	}
	beside := a.runBackground()
	b.Cleanup(beside.end)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = a.edge.Listen(l) }()
	b.Cleanup(func() { _ = a.drain(a.newPrivate(func() bool { return true }).Server(), nil) })
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
		"X-User-ID: %s\r\nX-Account-ID: %s\r\nX-Action: project:instance:read\r\n\r\n", demo.Account, demo.Project, token, demo.Bob, demo.Account)
	answers, buffer := bufio.NewReader(c), make([]byte, 4096)
	ask := func() {
		if _, err := c.Write(question); err != nil {
			b.Fatal(err)
		}
		n, err := answers.Read(buffer) // an answer is one write, and so one read here
		if answer := string(buffer[:n]); err != nil || !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.Contains(answer, `"allowed":true`) {
			b.Fatalf("%s %v", answer, err)
		}
	}
	for range 2000 { // what the process does once has to be over: a short run would count it as the requests'
		ask()
	}
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}
