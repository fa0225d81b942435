package listen_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/listen"
)

// writePair writes a new certificate and its key.
func writePair(t *testing.T, files listen.CertificateFiles, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{files.Cert: {Type: "CERTIFICATE", Bytes: raw}, files.Key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// served gives the serial number of the certificate that a handshake would use.
func served(t *testing.T, c *listen.Certificates) int64 {
	t.Helper()
	config, err := c.Config("h").GetConfigForClient(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return config.Certificates[0].Leaf.SerialNumber.Int64()
}

// TestHalfAChangeIsNoChange guarantees that files replaced one after the other are not refused in between. A change
// counts once, and at once after a signal.
func TestHalfAChangeIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		files := listen.CertificateFiles{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem")}
		writePair(t, files, 1)
		c, err := listen.ReadCertificates(files, time.Now)
		must(t, err)
		first, err := os.ReadFile(files.Key)
		must(t, err)
		hangup, results := make(chan os.Signal), []error{}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Watch(ctx, hangup, func(err error) { results = append(results, err) })
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		want := func(title string, serial int64, refused ...bool) {
			t.Helper()
			if got := served(t, c); got != serial || len(results) != len(refused) {
				t.Fatalf("%s: %d is served after %d changes: %v", title, got, len(results), results)
			}
			for i, r := range refused {
				if (results[i] != nil) != r {
					t.Errorf("%s: change %d: %v", title, i, results[i])
				}
			}
		}
		wait(time.Minute)
		want("unchanged", 1)

		writePair(t, files, 2)
		second, err := os.ReadFile(files.Key)
		must(t, err)
		must(t, os.WriteFile(files.Key, first, 0o600)) // the certificate is there, the key to come
		wait(2 * time.Second)
		want("half", 1)
		must(t, os.WriteFile(files.Key, second, 0o600))
		wait(4 * time.Second)
		want("both", 2, false)

		must(t, os.WriteFile(files.Key, bytes.TrimPrefix(second, []byte("-")), 0o600))
		wait(time.Minute)
		want("spoilt", 2, false, true)
		must(t, os.WriteFile(files.Key, second, 0o600))
		hangup <- syscall.SIGHUP
		synctest.Wait()
		want("mended", 2, false, true, false)
	})
}

// TestClientCertificatesAreCheckedEachTime guarantees that a client certificate is checked in each handshake.
func TestClientCertificatesAreCheckedEachTime(t *testing.T) {
	dir := t.TempDir()
	files := listen.CertificateFiles{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem")}
	writePair(t, files, 1)
	files.ClientCA = files.Cert
	c, err := listen.ReadCertificates(files, time.Now)
	must(t, err)
	config, err := c.Config("h").GetConfigForClient(&tls.ClientHelloInfo{})
	must(t, err)
	if !config.SessionTicketsDisabled || config.ClientAuth != tls.RequireAndVerifyClientCert || config.ClientCAs == nil || config.MinVersion != tls.VersionTLS12 {
		t.Errorf("tickets %t, %v", !config.SessionTicketsDisabled, config.ClientAuth)
	}
}
