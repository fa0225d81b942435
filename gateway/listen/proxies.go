package listen

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync/atomic"
	"time"
)

// ProxyConfig is Config for the proxies' listener. A proxy may show a certificate of ProxyCA. If clients need a
// certificate, it needs one of ProxyCA or ClientCA.
func (c *Certificates) ProxyConfig(protocol string) *tls.Config {
	if c == nil {
		return nil
	}
	wanted := tls.NoClientCert
	switch {
	case c.files.ClientCA != "":
		wanted = tls.RequireAndVerifyClientCert
	case c.files.ProxyCA != "":
		wanted = tls.VerifyClientCertIfGiven
	}
	return c.config(protocol, wanted, func(now *certificates) *x509.CertPool { return now.mayAsk })
}

// Proxy does the handshake of an accepted connection. trusted reports, at each call, whether the peer's certificate is
// valid now, by the present authorities of ProxyCA.
func (c *Certificates) Proxy(accepted net.Conn) (trusted func() bool, err error) {
	nobody := func() bool { return false }
	conn, ok := accepted.(*Conn)
	if !ok || c == nil || c.files.ProxyCA == "" {
		return nobody, nil
	}
	secured, ok := conn.Conn.(*secure)
	if !ok {
		return nobody, nil
	}
	if err := secured.handshake(); err != nil {
		return nobody, err
	}
	shown := secured.ConnectionState().PeerCertificates
	if len(shown) == 0 {
		return nobody, nil
	}
	return (&proxy{certificates: c, shown: shown}).trusted, nil
}

// proxy is a peer that showed a certificate.
type proxy struct {
	certificates *Certificates
	shown        []*x509.Certificate // with what was sent of the chain behind it
	last         atomic.Pointer[proof]
}

// proof is until when a certificate is valid by some authorities; the zero time is never.
type proof struct {
	certificates *certificates
	until        time.Time
}

func (p *proxy) trusted() bool {
	current, last := p.certificates.current.Load(), p.last.Load()
	if last == nil || last.certificates != current { // the authorities may be others now
		last = &proof{current, p.valid(current.proxies)}
		p.last.Store(last)
	}
	return p.certificates.now().Before(last.until)
}

// valid returns until when the certificate is valid by these authorities: as long as one chain is.
func (p *proxy) valid(authorities *x509.CertPool) (until time.Time) {
	intermediates := x509.NewCertPool()
	for _, c := range p.shown[1:] {
		intermediates.AddCert(c)
	}
	chains, err := p.shown[0].Verify(x509.VerifyOptions{
		Roots: authorities, Intermediates: intermediates, CurrentTime: p.certificates.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return time.Time{}
	}
	for _, chain := range chains {
		end := chain[0].NotAfter
		for _, c := range chain {
			if c.NotAfter.Before(end) {
				end = c.NotAfter
			}
		}
		if end.After(until) {
			until = end
		}
	}
	return until
}
