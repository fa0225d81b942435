package console_test

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestAConsoleOutlivesTheReaderOfItsLog guarantees that a console in a process of its own answers on, and stops as ever,
// when nobody reads its log any more.
func TestAConsoleOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	g := demo(t)
	r, w := must.Two(os.Pipe())(t)
	cmd := exec.Command(harness.Binary, "console", "--url", g.URL, "--private-url", "http://"+servers.Address(t), "--data-dir", g.DataDir,
		"--console-listen", "127.0.0.1:0")
	cmd.Stderr = w
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	must.Do(t, w.Close())
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		t.Fatalf("no line of the log: %v", lines.Err())
	}
	address := harness.ReadyLine(lines.Bytes())["console_listen"]
	must.Do(t, r.Close())
	b := newBrowserAt(t, "http://"+address).withSession(&http.Cookie{Name: "portcullis", Value: "any"})
	for range 3 { // of each the console logs that it can't read sessions
		if got := b.get("/people"); got.Status != http.StatusServiceUnavailable {
			t.Errorf("a page: %d", got.Status)
		}
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestAHangupHasAConsoleReadItsCertificates guarantees that SIGHUP does not end a console in a process of its own. The log
// says why changed files are refused.
func TestAHangupHasAConsoleReadItsCertificates(t *testing.T) {
	t.Parallel()
	g := demo(t)
	authority := must.Get(servers.NewAuthority())(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.pem"), filepath.Join(dir, "tls.key")
	renew := func() {
		newCert, newKey := authority.Certificate(t)
		harness.WriteFile(t, cert, string(must.Get(os.ReadFile(newCert))(t)))
		harness.WriteFile(t, key, string(must.Get(os.ReadFile(newKey))(t)))
	}
	renew()
	apart := g.StartConsole(t, "--tls-cert-file", cert, "--tls-key-file", key)
	harness.WriteFile(t, cert, "no certificate")
	must.Do(t, apart.Cmd.Process.Signal(syscall.SIGHUP))
	harness.Soon(t, "the file is refused", func() bool {
		log := apart.Stderr.String()
		return strings.Contains(log, "the last good ones stay in use") && strings.Contains(log, "are no pair of certificate and key")
	})
	renew()
	must.Do(t, apart.Cmd.Process.Signal(syscall.SIGHUP))
	harness.Soon(t, "the pair is taken", func() bool { return strings.Contains(apart.Stderr.String(), "changed files taken into use") })
	apart.Terminate(t)
	if code := apart.Ended(t); code != 0 {
		t.Errorf("it ended with %d\n%s", code, apart.Stderr)
	}
}

// TestABrowserDoesNotHoldUpTheStopOfTheEdge guarantees that the edge has half of --drain-timeout for its own end, however
// long a page or a connection of the console lasts: it would cut off what it takes until the last moment.
func TestABrowserDoesNotHoldUpTheStopOfTheEdge(t *testing.T) {
	t.Parallel()
	const drain = 4 * time.Second
	g := harness.Launch(t, t.TempDir(), "--console-listen", "127.0.0.1:0", "--drain-timeout", drain.String())
	browser := must.Get(net.Dial("tcp", strings.TrimPrefix(g.ConsoleURL, "http://")))(t) // as one that expects a click
	defer func() { _ = browser.Close() }()
	g.Terminate(t)
	began := time.Now()
	harness.Soon(t, "the edge takes no more connections", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(g.URL, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	if took := time.Since(began); took > drain*3/4 {
		t.Errorf("after %s", took)
	}
	if code := g.Ended(t); code != 0 {
		t.Errorf("it ended with %d\n%s", code, g.Stderr)
	}
}
