//go:build nightly

package mcp_test

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// plainUpstream is the variable with the upstream of TestPlainProxy.
const plainUpstream = "PORTCULLIS_TEST_PLAIN_UPSTREAM"

// TestPlainProxy is the program that the benchmarks compare the door with: it reads the JSON of each message strictly and
// judges nothing. It has the gateway's HTTP server, parser and client of upstreams.
func TestPlainProxy(t *testing.T) {
	base, err := url.Parse(os.Getenv(plainUpstream))
	if err != nil || base.Host == "" {
		t.Skip("the benchmarks start it")
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret)))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := assertion.NewKeys(master, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	upstream := peer.NewUpstream("github", base, time.Minute, time.Minute, keys)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/", func(c *fiber.Ctx) error { return passPlainly(c, upstream) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("plain proxy " + l.Addr().String())
	if err := app.Listener(l); err != nil {
		t.Fatal(err)
	}
}

// passPlainly reads a message and its response strictly, and passes both.
func passPlainly(c *fiber.Ctx, upstream *peer.Upstream) error {
	sent := func(name string) (values []string) {
		for _, value := range c.Request().Header.PeekAll(name) {
			values = append(values, string(value))
		}
		return values
	}
	m, fault := message.Read(c.BodyRaw())
	if fault != nil {
		return c.Status(fault.Status).Send(fault.Body())
	}
	if _, fault = m.Era(sent); fault != nil {
		return c.Status(fault.Status).Send(fault.Body())
	}
	header := http.Header{}
	for _, name := range []string{"Accept", message.HeaderVersion, message.HeaderMethod, message.HeaderName} {
		header[http.CanonicalHeaderKey(name)] = sent(name)
	}
	answer, err := upstream.Pass(c.Context(), peer.Call{
		Statement: assertion.Statement{Method: http.MethodPost, Body: c.BodyRaw()}, Header: http.Header{"Content-Type": {"application/json"}}, Further: header,
	})
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(answer.Body)
	if err == nil {
		err = answer.Body.Close()
	}
	if err == nil {
		_, err = message.ReadServer(raw)
	}
	if err != nil {
		return err
	}
	c.Set("Content-Type", "application/json")
	return c.Send(raw)
}

// startPlain starts the proxy as a process. It returns its URL and its process id.
func startPlain(b *testing.B, upstream string) (address string, pid int) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPlainProxy$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), plainUpstream+"="+upstream)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "plain proxy "); ok {
			return "http://" + address, cmd.Process.Pid
		}
	}
	b.Fatal("the plain proxy has ended: ", lines.Err())
	return "", 0
}
