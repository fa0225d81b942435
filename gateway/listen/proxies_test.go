package listen_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/resources"
)

// authority issues certificates of clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return &authority{&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(100 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key}
}

// write writes the certificates of authorities into a file.
func write(t *testing.T, file string, all ...*authority) {
	t.Helper()
	var out []byte
	for _, a := range all {
		raw, err := x509.CreateCertificate(rand.Reader, a.certificate, a.certificate, &a.key.PublicKey, a.key)
		must(t, err)
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})...)
	}
	must(t, os.WriteFile(file, out, 0o600))
}

// issue makes a certificate of a client, which ends in an hour.
func (a *authority) issue(t *testing.T, usage x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "client"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, a.certificate, &key.PublicKey, a.key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// shake connects to a listener for proxies as a client that shows these certificates, and returns what the server knows
// of it.
func shake(t *testing.T, c *listen.Certificates, shows ...tls.Certificate) (trusted func() bool, err error) {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	bounds := listen.NewBounds(0, 0, resources.IDs{Now: time.Now, Random: rand.Reader}, slog.New(slog.DiscardHandler))
	l := bounds.Listener(plain, c.ProxyConfig("h2"))
	client, err := net.Dial("tcp", plain.Addr().String())
	must(t, err)
	accepted, err := l.Accept()
	must(t, err)
	t.Cleanup(func() { _, _, _ = client.Close(), accepted.Close(), plain.Close() })
	go func() {
		config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(shows) == 0 {
				return &tls.Certificate{}, nil
			}
			return &shows[0], nil
		}
		_ = tls.Client(client, config).HandshakeContext(t.Context()) // the server says how it went
	}()
	return c.Proxy(accepted)
}

// TestProxiesAreThoseOfTheirAuthorities: a certificate of another authority is none, nor one for servers, nor none at all.
func TestProxiesAreThoseOfTheirAuthorities(t *testing.T) {
	t.Parallel()
	proxies, clients, foreign := newAuthority(t, "proxies"), newAuthority(t, "clients"), newAuthority(t, "others")
	read := func(both bool) *listen.Certificates {
		dir := t.TempDir()
		files := listen.CertificateFiles{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem"), ProxyCA: filepath.Join(dir, "p.pem")}
		writePair(t, files, 1)
		write(t, files.ProxyCA, proxies)
		if both {
			files.ClientCA = filepath.Join(dir, "clients.pem")
			write(t, files.ClientCA, clients)
		}
		c, err := listen.ReadCertificates(files, time.Now)
		must(t, err)
		return c
	}
	alone, beside := read(false), read(true)
	for name, c := range map[string]struct {
		certificates    *listen.Certificates
		shows           []tls.Certificate
		enters, trusted bool
	}{
		"a proxy":                        {alone, []tls.Certificate{proxies.issue(t, x509.ExtKeyUsageClientAuth)}, true, true},
		"nothing":                        {alone, nil, true, false},
		"another authority":              {alone, []tls.Certificate{foreign.issue(t, x509.ExtKeyUsageClientAuth)}, false, false},
		"a server":                       {alone, []tls.Certificate{proxies.issue(t, x509.ExtKeyUsageServerAuth)}, false, false},
		"a proxy beside clients":         {beside, []tls.Certificate{proxies.issue(t, x509.ExtKeyUsageClientAuth)}, true, true},
		"a client":                       {beside, []tls.Certificate{clients.issue(t, x509.ExtKeyUsageClientAuth)}, true, false},
		"nothing beside clients":         {beside, nil, false, false},
		"others' beside clients":         {beside, []tls.Certificate{foreign.issue(t, x509.ExtKeyUsageClientAuth)}, false, false},
		"a server of the proxies beside": {beside, []tls.Certificate{proxies.issue(t, x509.ExtKeyUsageServerAuth)}, false, false},
	} {
		trusted, err := shake(t, c.certificates, c.shows...)
		if (err == nil) != c.enters || trusted() != c.trusted {
			t.Errorf("%s: trusted %v, %v", name, trusted(), err)
		}
	}
	if trusted, err := (*listen.Certificates)(nil).Proxy(nil); err != nil || trusted() {
		t.Errorf("without TLS: %v", err)
	}
}

// TestAProxyIsTrustedByTheAuthoritiesOfNow: not once its authority is taken away, nor after its certificate has ended.
func TestAProxyIsTrustedByTheAuthoritiesOfNow(t *testing.T) {
	t.Parallel()
	proxies, foreign := newAuthority(t, "proxies"), newAuthority(t, "others")
	dir := t.TempDir()
	files := listen.CertificateFiles{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem"), ProxyCA: filepath.Join(dir, "p.pem")}
	writePair(t, files, 1)
	write(t, files.ProxyCA, proxies)
	var later atomic.Int64
	c, err := listen.ReadCertificates(files, func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
	must(t, err)
	hangup, judged := make(chan os.Signal), make(chan error)
	go c.Watch(t.Context(), hangup, func(err error) { judged <- err })
	trusted, err := shake(t, c, proxies.issue(t, x509.ExtKeyUsageClientAuth))
	must(t, err)
	for _, now := range []struct {
		title       string
		authorities []*authority
		after       time.Duration
		want        bool
	}{
		{"its own", []*authority{proxies}, 0, true}, {"another authority", []*authority{foreign}, 0, false}, {"both", []*authority{foreign, proxies}, 0, true}, {"ended", []*authority{proxies}, 2 * time.Hour, false},
	} {
		later.Store(0) // the server's own is valid for an hour
		write(t, files.ProxyCA, now.authorities...)
		hangup <- syscall.SIGHUP
		must(t, <-judged)
		later.Store(int64(now.after))
		if trusted() != now.want {
			t.Errorf("%s: trusted %v", now.title, !now.want)
		}
	}
}
