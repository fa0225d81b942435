package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority of the test process.
type Authority struct {
	// File has its certificate.
	File        string
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes one; change may spoil its certificate.
func NewAuthority(change ...func(*x509.Certificate)) (*Authority, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate := template("authority")
	certificate.IsCA, certificate.BasicConstraintsValid, certificate.KeyUsage = true, true, x509.KeyUsageCertSign
	for _, f := range change {
		f(certificate)
	}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a := &Authority{File: filepath.Join(dir, "ca.pem"), dir: dir, certificate: certificate, key: key}
	return a, writePEM(a.File, "CERTIFICATE", raw)
}

// Certificate makes a server's, for these names or for 127.0.0.1. A client can show it, too.
func (a *Authority) Certificate(t testing.TB, names ...string) (certificate, key string) {
	t.Helper()
	return a.Issue(t, func(server *x509.Certificate) {
		server.DNSNames = names
		if len(names) == 0 {
			server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		}
	})
}

// Issue makes a certificate for what change names.
func (a *Authority) Issue(t testing.TB, change func(*x509.Certificate)) (certificate, key string) {
	t.Helper()
	dir, err := os.MkdirTemp(a.dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server := template("server")
	change(server)
	raw, err := x509.CreateCertificate(rand.Reader, server, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	if err := writePEM(certificate, "CERTIFICATE", raw); err != nil {
		t.Fatal(err)
	}
	if err := writePEM(key, "PRIVATE KEY", secret); err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// template has a name of its own: a certificate with that of its issuer looks signed by itself.
func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "portcullis test " + name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func writePEM(path, kind string, raw []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
}
