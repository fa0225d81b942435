package listen

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// maxPEM bounds a file with certificates or a key in bytes.
const maxPEM = 1 << 20

// The rights of users who are neither the owner nor in the group: mounted secrets are the group's.
const (
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o002
)

// CertificateFiles are PEM files, or symbolic links to them.
type CertificateFiles struct {
	// Cert has the server's certificate and the chain behind it, Key its private key.
	Cert, Key string
	// ClientCA has the authorities of client certificates; "" wants none.
	ClientCA string
	// ProxyCA has the authorities of proxies that may say what a call does; "" trusts none.
	ProxyCA string
}

// Certificates are the server's certificate and the authorities of its clients, as they were last
// read without an error. It is safe for concurrent use.
type Certificates struct {
	files   CertificateFiles
	now     func() time.Time
	current atomic.Pointer[certificates]
}

// certificates is one content of the files.
type certificates struct {
	pair    tls.Certificate
	clients *x509.CertPool
	// proxies are the authorities of ProxyCA; mayAsk are these and those of clients.
	proxies, mayAsk *x509.CertPool
	// revision differs between contents, and between their faults; err is nil of a content that can be
	// used.
	revision string
	err      error
}

// ReadCertificates reads the files. It refuses a missing file and one without PEM, a key of another certificate, an
// ended certificate, a key readable by every user of the machine, and a file writable by every user.
func ReadCertificates(files CertificateFiles, now func() time.Time) (*Certificates, error) {
	c := &Certificates{files: files, now: now}
	read := c.read()
	if read.err != nil {
		return nil, read.err
	}
	c.current.Store(read)
	return c, nil
}

// Config returns the settings of a listener for this protocol alone (ALPN). Each handshake uses the certificates of its
// moment. Without certificates it returns nil: no TLS.
func (c *Certificates) Config(protocol string) *tls.Config {
	if c == nil {
		return nil
	}
	wanted := tls.NoClientCert
	if c.files.ClientCA != "" {
		wanted = tls.RequireAndVerifyClientCert
	}
	return c.config(protocol, wanted, func(now *certificates) *x509.CertPool { return now.clients })
}

// config returns the settings of a listener that wants client certificates of these authorities.
func (c *Certificates) config(protocol string, wanted tls.ClientAuthType, authorities func(*certificates) *x509.CertPool) *tls.Config {
	base := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{protocol}, ClientAuth: wanted,
		SessionTicketsDisabled: wanted != tls.NoClientCert, // a resumed session would outlive its authority
	}
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := c.current.Load()
		one := base.Clone()
		one.Certificates, one.ClientCAs = []tls.Certificate{now.pair}, authorities(now)
		return one, nil
	}
	return base
}

// Ends returns the end of the certificate in use.
func (c *Certificates) Ends() time.Time { return c.current.Load().pair.Leaf.NotAfter }

// read reads the files as they are now.
func (c *Certificates) read() *certificates {
	cert, certErr := readPEM(c.files.Cert, othersWrite)
	key, keyErr := readPEM(c.files.Key, othersRead|othersWrite)
	clients, clientErr := readAuthorities(c.files.ClientCA)
	proxies, proxyErr := readAuthorities(c.files.ProxyCA)
	read := &certificates{err: errors.Join(certErr, keyErr, clientErr, proxyErr)}
	if read.err == nil {
		read.err = c.parse(read, cert, key, clients, proxies)
	}
	read.revision = revisionOf(cert, key, clients, proxies, fmt.Append(nil, read.err))
	return read
}

// readAuthorities reads the file of authorities; "" is none.
func readAuthorities(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return readPEM(path, othersWrite)
}

// parse fills in the contents of the files.
func (c *Certificates) parse(read *certificates, cert, key, clients, proxies []byte) (err error) {
	if read.pair, err = tls.X509KeyPair(cert, key); err != nil {
		return fmt.Errorf("%s and %s are no pair of certificate and key in PEM: %w", c.files.Cert, c.files.Key, err)
	}
	if end := read.pair.Leaf.NotAfter; !c.now().Before(end) {
		return fmt.Errorf("the certificate in %s ended at %s; renew it", c.files.Cert, end.UTC().Format(time.RFC3339))
	}
	read.clients, read.proxies, read.mayAsk = x509.NewCertPool(), x509.NewCertPool(), x509.NewCertPool()
	for _, part := range [...]struct {
		file string
		raw  []byte
		pool *x509.CertPool
	}{{c.files.ClientCA, clients, read.clients}, {c.files.ProxyCA, proxies, read.proxies}} {
		if part.file != "" && !part.pool.AppendCertsFromPEM(part.raw) {
			return fmt.Errorf("%s has no certificate in PEM", part.file)
		}
		read.mayAsk.AppendCertsFromPEM(part.raw)
	}
	return nil
}

// readPEM reads a file, unless the machine's other users have one of the refused rights to it.
func readPEM(path string, refused fs.FileMode) ([]byte, error) {
	// The check comes first, since opening a pipe waits for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	rights := info.Mode().Perm() & refused
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s must be a regular file", path)
	case rights&othersWrite != 0:
		return nil, fmt.Errorf("every user of this machine can change %s; run chmod o-w on it", path)
	case rights&othersRead != 0:
		return nil, fmt.Errorf("every user of this machine can read the private key %s; run chmod o-r on it (its group may read it)", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, maxPEM+1))
	if err == nil && len(raw) > maxPEM {
		err = fmt.Errorf("%s must have at most %d bytes", path, maxPEM)
	}
	return raw, err
}

func revisionOf(contents ...[]byte) string {
	var all bytes.Buffer
	for _, content := range contents {
		sum := sha256.Sum256(content)
		all.Write(sum[:])
	}
	return all.String()
}
