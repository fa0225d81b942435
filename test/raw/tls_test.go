package raw_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTLSIsSpokenOnBothEdges, with HTTP/1.1 and from TLS 1.2 on; health stays plain.
func TestTLSIsSpokenOnBothEdges(t *testing.T) {
	t.Parallel()
	a := authority(t)
	g := overTLS(t, a)
	for name, url := range map[string]string{"edge": g.URL, "users": g.UsersURL} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			c := trusting(t, a)
			c.MinVersion, c.MaxVersion, c.NextProtos = version, version, []string{"h2", "http/1.1"}
			status, state, err := get(url, c)
			if err != nil || status != http.StatusOK || state.NegotiatedProtocol != "http/1.1" || state.Version != version {
				t.Errorf("%s with %s: %d, %+v, %v", name, tls.VersionName(version), status, state, err)
			}
		}
	}
	g.WantReady(t, http.StatusOK)
	if _, _, err := get(strings.Replace(g.HealthURL, "http://", "https://", 1), trusting(t, a)); err == nil {
		t.Error("health speaks TLS")
	}
}

// TestHandshakesThatAreRefused: none gets an answer, and nothing is logged as a request.
func TestHandshakesThatAreRefused(t *testing.T) {
	t.Parallel()
	a := authority(t)
	g := overTLS(t, a)
	dial := func(change func(*tls.Config)) *tls.Config {
		c := trusting(t, a)
		change(c)
		return c
	}
	for name, c := range map[string]*tls.Config{
		"TLS 1.1":  dial(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }),
		"h2 alone": dial(func(c *tls.Config) { c.NextProtos = []string{"h2"} }),
		"old cipher": dial(func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			c.RootCAs, c.InsecureSkipVerify = nil, true
			conn, err := tls.Dial("tcp", strings.TrimPrefix(g.URL, "https://"), c)
			if err == nil {
				_ = conn.Close()
				t.Errorf("it was accepted: %+v", conn.ConnectionState())
			}
		})
	}
	t.Run("plain HTTP", func(t *testing.T) {
		conn := socket(t, g.URL)
		must.Get(io.WriteString(conn, "GET "+page+" HTTP/1.1\r\nHost: gateway\r\n\r\n"))(t)
		if all, _ := io.ReadAll(conn); len(all) > 0 {
			t.Errorf("answered %q", all)
		}
	})
	harness.Soon(t, "four are counted", func() bool { return harness.MetricOf(t, g, "portcullis_tls_handshakes_failed_total") == 4 })
	if lines := g.RequestLines(""); len(lines) > 0 {
		t.Errorf("logged as requests: %v", lines)
	}
	if status, _, err := get(g.URL, trusting(t, a)); err != nil || status != http.StatusOK {
		t.Errorf("another client: %d, %v", status, err)
	}
}

// TestClientsWithoutTheWantedCertificateAreRefused, before they can send a request.
func TestClientsWithoutTheWantedCertificateAreRefused(t *testing.T) {
	t.Parallel()
	a, clients, old := authority(t), authority(t), authority(t, ended)
	both := harness.TempFile(t, "ca.pem", readFile(t, clients.File)+readFile(t, old.File))
	g := overTLS(t, a, "--tls-client-ca-file", both)
	base := trusting(t, a)
	show := func(cert, key string) *tls.Config { return showing(t, base, cert, key) }
	for name, c := range map[string]struct {
		config *tls.Config
		inside bool
	}{
		"a certificate":                      {show(clients.Certificate(t)), true},
		"none":                               {base, false},
		"one of the server's authority":      {show(a.Certificate(t)), false},
		"one of an authority that has ended": {show(old.Certificate(t)), false},
		"one that has ended":                 {show(clients.Issue(t, ended)), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				one := c.config.Clone()
				one.MaxVersion = version
				status, _, err := get(g.URL, one)
				if inside := err == nil && status == http.StatusOK; inside != c.inside {
					t.Errorf("%s: %d, %v", tls.VersionName(version), status, err)
				}
			}
		})
	}
	if n := len(g.RequestLines("")); n > 2 {
		t.Errorf("%d requests were answered", n)
	}
}

// TestCertificateIsRotated by the swap of a link, in the files themselves and on SIGHUP; a bad pair
// is kept out, and log and metric say so.
func TestCertificateIsRotated(t *testing.T) {
	t.Parallel()
	first, second := authority(t), authority(t)
	m := mount(t, pair(first.Certificate(t))...)
	g := harness.Launch(t, t.TempDir(), "--tls-cert-file", m.path(certName), "--tls-key-file", m.path(keyName))
	serves := func(want string) bool {
		a := first
		if want == "second" {
			a = second
		}
		status, _, err := get(g.URL, trusting(t, a))
		return err == nil && status == http.StatusOK
	}
	taken := `portcullis_tls_reloads_total{result="taken"}`
	refused := `portcullis_tls_reloads_total{result="refused"}`
	if !serves("first") {
		t.Fatal("the first pair is not served")
	}

	cert, key := second.Certificate(t)
	m.swap(t, cert, key)
	t.Logf("taken over after %s", harness.SoonWithin(t, 10*time.Second, "the second pair is served", func() bool { return serves("second") }))

	stranger, _ := first.Certificate(t)
	over, _ := first.Issue(t, ended)
	for i, bad := range [][]string{{stranger, key}, {second.File, key}, {key, key}, {over, key}} {
		m.swap(t, bad[0], bad[1])
		harness.Soon(t, "it is refused", func() bool { return harness.MetricOf(t, g, refused) == float64(i+1) })
		if !serves("second") {
			t.Errorf("after bad pair %d the last good one is not served", i)
		}
	}
	if log := g.Stderr.String(); !strings.Contains(log, "the last good ones stay in use") {
		t.Error("the log does not say that a pair was refused")
	}

	before := harness.MetricOf(t, g, taken)
	m.swap(t, pair(first.Certificate(t))...)
	must.Do(t, g.Cmd.Process.Signal(syscall.SIGHUP))
	harness.Soon(t, "a hang-up takes it over", func() bool { return harness.MetricOf(t, g, taken) > before && serves("first") })
}

func pair(cert, key string) []string { return []string{cert, key} }

// TestStalledHandshakesAreClosed wherever they stall, as slow heads are, and nobody else waits.
func TestStalledHandshakesAreClosed(t *testing.T) {
	t.Parallel()
	a := authority(t)
	g := overTLS(t, a, "--read-timeout", slowTime, "--idle-timeout", slowTime)
	hello := helloOf(t)
	for name, sent := range map[string]string{
		"nothing": "", "a part of the hello": hello[:len(hello)/2], "the hello alone": hello, "a record without end": "\x16\x03\x01\x3f\xff\x01",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := socket(t, g.URL)
			_, _ = io.WriteString(conn, sent)
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("it is open")
			}
		})
	}
	t.Run("a head after the handshake", func(t *testing.T) {
		t.Parallel()
		conn := tls.Client(socket(t, g.URL), named(trusting(t, a)))
		must.Get(io.WriteString(conn, "GET /o"))(t)
		all, err := io.ReadAll(conn)
		if errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasPrefix(string(all), "HTTP/1.1 408 ") {
			t.Errorf("%q, %v", all, err)
		}
	})
	if status, _, err := get(g.URL, trusting(t, a)); err != nil || status != http.StatusOK {
		t.Errorf("another client: %d, %v", status, err)
	}
}

// TestRefusalIsReadToItsEndOverTLS: an answer that leaves a part of the request unread arrives.
func TestRefusalIsReadToItsEndOverTLS(t *testing.T) {
	t.Parallel()
	a := authority(t)
	g := overTLS(t, a)
	conn := tls.Client(socket(t, g.URL), named(trusting(t, a)))
	go func() {
		_, _ = io.WriteString(conn, "GET "+page+" HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"+strings.Repeat("x", 1<<20))
	}()
	all, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 400 ") {
		t.Errorf("%.100q, %v", all, err)
	}
}

// TestConnectionsOverTheBoundAreClosedOverTLS without a handshake; those that are open go on.
func TestConnectionsOverTheBoundAreClosedOverTLS(t *testing.T) {
	t.Parallel()
	a := authority(t)
	g := overTLS(t, a, "--max-connections-per-address", "1")
	held := tls.Client(socket(t, g.URL), named(trusting(t, a)))
	ask := func() string {
		answer := make([]byte, len("HTTP/1.1 401"))
		_, _ = io.WriteString(held, "GET /api/v1/accounts/acct-a-v1/roles HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.ReadFull(held, answer)
		rest := make([]byte, 4<<10)
		_, _ = held.Read(rest)
		return string(answer)
	}
	if got := ask(); got != "HTTP/1.1 401" {
		t.Fatalf("%q", got)
	}
	if all, _ := io.ReadAll(socket(t, g.URL)); len(all) > 0 {
		t.Errorf("over the bound: %q", all)
	}
	if got := ask(); got != "HTTP/1.1 401" {
		t.Errorf("the open one: %q", got)
	}
}

// named adds the name that the server's certificate has.
func named(c *tls.Config) *tls.Config {
	c.ServerName = "127.0.0.1"
	return c
}

// helloOf gives the first record of a client.
func helloOf(t *testing.T) string {
	t.Helper()
	var sent recorded
	_ = tls.Client(&sent, &tls.Config{ServerName: "gateway"}).Handshake() // it reads nothing
	return string(sent.all)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(path))(t)
	return string(raw)
}
