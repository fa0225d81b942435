package harness

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// tlsAuthority is the authority of the servers that tests start with TLS.
var tlsAuthority = sync.OnceValues(func() (*servers.Authority, error) { return servers.NewAuthority() })

// TrustOwn has all clients of this process, and of those that it starts, trust the servers of WithTLS. A package calls it
// in its TestMain, before a client has read the authorities of the system.
func TrustOwn() {
	authority, err := tlsAuthority()
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", authority.File) // the name is one
}

// WithTLS returns the arguments of a gateway with a certificate, which takes what a proxy of the returned authority says.
func WithTLS(t testing.TB) (proxies *servers.Authority, args []string) {
	t.Helper()
	authority, err := tlsAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if proxies, err = servers.NewAuthority(); err != nil {
		t.Fatal(err)
	}
	cert, key := authority.Certificate(t)
	return proxies, []string{"--tls-cert-file", cert, "--tls-key-file", key, "--ext-authz-client-ca-file", proxies.File}
}

// AsProxy returns the settings of a client that shows a certificate of the authority; without one, none.
func AsProxy(t testing.TB, issuer *servers.Authority) *tls.Config {
	t.Helper()
	authority := must.Get(tlsAuthority())(t)
	raw := must.Get(os.ReadFile(authority.File))(t)
	config := &tls.Config{RootCAs: x509.NewCertPool(), NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	config.RootCAs.AppendCertsFromPEM(raw)
	if issuer != nil {
		pair := must.Get(tls.LoadX509KeyPair(issuer.Certificate(t)))(t)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}
