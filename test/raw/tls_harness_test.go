package raw_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// page is a route that needs no credential.
const page = "/openapi.json"

func authority(t *testing.T, change ...func(*x509.Certificate)) *servers.Authority {
	t.Helper()
	return must.Get(servers.NewAuthority(change...))(t)
}

// overTLS starts a gateway with a certificate of the authority.
func overTLS(t *testing.T, a *servers.Authority, args ...string) *harness.Gateway {
	t.Helper()
	cert, key := a.Certificate(t)
	return harness.Launch(t, t.TempDir(), append([]string{"--tls-cert-file", cert, "--tls-key-file", key}, args...)...)
}

// trusting are the settings of a client of the authority.
func trusting(t *testing.T, a *servers.Authority) *tls.Config {
	t.Helper()
	raw := must.Get(os.ReadFile(a.File))(t)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		t.Fatal("the authority has no certificate")
	}
	return &tls.Config{RootCAs: pool}
}

// showing are the settings of a client that shows a certificate.
func showing(t *testing.T, c *tls.Config, cert, key string) *tls.Config {
	t.Helper()
	pair := must.Get(tls.LoadX509KeyPair(cert, key))(t)
	c = c.Clone()
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil } // wanted or not
	return c
}

// get gives the status of the page on a connection of its own, and the connection's state.
func get(url string, c *tls.Config) (int, *tls.ConnectionState, error) {
	client := http.Client{Timeout: slowEnd, Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}
	resp, err := client.Get(url + page)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.TLS, err
}

// mounted is a folder of certificates, mounted like a secret by Kubernetes: the files are links
// into a folder, itself a link and swapped.
type mounted struct {
	dir     string
	version int
}

// names of the mounted files.
const (
	certName = "tls.crt"
	keyName  = "tls.key"
)

func mount(t *testing.T, files ...string) *mounted {
	t.Helper()
	m := &mounted{dir: t.TempDir()}
	m.swap(t, files...)
	for _, name := range []string{certName, keyName} {
		must.Do(t, os.Symlink(filepath.Join("..data", name), m.path(name)))
	}
	return m
}

func (m *mounted) path(name string) string { return filepath.Join(m.dir, name) }

// swap replaces both files in one step.
func (m *mounted) swap(t *testing.T, files ...string) {
	t.Helper()
	m.version++
	next := filepath.Join(m.dir, "..v"+string(rune('0'+m.version)))
	must.Do(t, os.Mkdir(next, 0o750))
	for name, source := range map[string]string{certName: files[0], keyName: files[1]} {
		raw := must.Get(os.ReadFile(source))(t)
		harness.WriteFile(t, filepath.Join(next, name), string(raw))
		if err := os.Chmod(filepath.Join(next, name), 0o640); err != nil { // its group may read it
			t.Fatal(err)
		}
	}
	link := m.path("..next")
	must.Do(t, os.Symlink(filepath.Base(next), link))
	must.Do(t, os.Rename(link, m.path("..data")))
}

// ended makes a certificate that has ended.
func ended(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }

// recorded is a connection that keeps what is written and has nothing to read.
type recorded struct {
	net.Conn
	all []byte
}

func (r *recorded) Write(p []byte) (int, error) {
	r.all = append(r.all, p...)
	return len(p), nil
}

func (*recorded) Read([]byte) (int, error) { return 0, io.EOF }

func (*recorded) Close() error { return nil }
