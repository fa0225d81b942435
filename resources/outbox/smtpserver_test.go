package outbox_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// letter is what the mail server was given.
type letter struct {
	source     string
	recipients []string
	data       string
	secure     bool
	user, pass string
}

// mailServer is a small SMTP server. Its fields are set before start.
type mailServer struct {
	t *testing.T
	// offers are the extensions it names.
	offers []string
	// certificate is for STARTTLS, or for everything where implicit is set.
	certificate *tls.Certificate
	implicit    bool
	// script gives the answer to a line instead of the usual one; "" is the usual one,
	// "hang up" ends the connection. The end of the data is the line ".".
	script func(line string) string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	letters  []letter
	lines    []string
	wait     sync.WaitGroup
}

// start listens on the address; "" is a new one on loopback.
func (s *mailServer) start(address string) *mailServer {
	s.t.Helper()
	if address == "" {
		address = "127.0.0.1:0"
	}
	l := must.Get(net.Listen("tcp", address))(s.t)
	s.listener, s.conns = l, map[net.Conn]bool{}
	s.wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			s.wait.Go(func() { s.serve(conn) })
		}
	})
	s.t.Cleanup(s.stop)
	return s
}

// stop takes the server down.
func (s *mailServer) stop() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// drain waits until every client has hung up.
func (s *mailServer) drain() {
	s.listener.Close()
	s.wait.Wait()
}

func (s *mailServer) address() string { return s.listener.Addr().String() }

// got is every letter that it has taken.
func (s *mailServer) got() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]letter(nil), s.letters...)
}

// heard says whether a line that starts so was sent to it.
func (s *mailServer) heard(prefix string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return false
}

// session is one conversation.
type session struct {
	*mailServer
	conn net.Conn
	r    *bufio.Reader
	now  letter
}

func (s *mailServer) serve(conn net.Conn) {
	defer conn.Close()
	c := &session{mailServer: s, conn: conn}
	if s.implicit {
		c.secure()
	}
	c.r = bufio.NewReader(c.conn)
	if !c.answer("greeting", "220 mail.test ESMTP") {
		return
	}
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		if !c.command(line) {
			return
		}
	}
}

func (c *session) secure() {
	c.conn = tls.Server(c.conn, &tls.Config{Certificates: []tls.Certificate{*c.certificate}, MinVersion: tls.VersionTLS12})
	c.r, c.now = bufio.NewReader(c.conn), letter{secure: true}
}

// answer says the scripted reply, or the usual one, and whether the usual one was said.
func (c *session) answer(line, usual string) bool {
	if c.script != nil {
		if said := c.script(line); said == "hang up" {
			c.conn.Close()
			return false
		} else if said != "" {
			c.conn.Write([]byte(said + "\r\n"))
			return line == "greeting"
		}
	}
	_, err := c.conn.Write([]byte(usual + "\r\n"))
	return err == nil
}

// command handles a line; false ends the conversation.
func (c *session) command(line string) bool {
	upper := strings.ToUpper(line)
	switch {
	case strings.HasPrefix(upper, "EHLO"):
		c.answer(line, "250-mail.test\r\n250-"+strings.Join(c.offers, "\r\n250-")+"\r\n250 HELP")
	case upper == "STARTTLS":
		if c.answer(line, "220 go on") {
			c.secure()
		}
	case strings.HasPrefix(upper, "AUTH PLAIN "):
		if c.answer(line, "235 welcome") {
			raw, _ := base64.StdEncoding.DecodeString(line[len("AUTH PLAIN "):])
			if part := strings.Split(string(raw), "\x00"); len(part) == 3 {
				c.now.user, c.now.pass = part[1], part[2]
			}
		}
	case strings.HasPrefix(upper, "MAIL FROM:"):
		if c.answer(line, "250 ok") {
			c.now.source, c.now.recipients = strings.Trim(line[len("MAIL FROM:"):], "<>"), nil
		}
	case strings.HasPrefix(upper, "RCPT TO:"):
		if c.answer(line, "250 ok") {
			c.now.recipients = append(c.now.recipients, strings.Trim(line[len("RCPT TO:"):], "<>"))
		}
	case upper == "DATA":
		return !c.answer(line, "354 go on") || c.data()
	case upper == "QUIT":
		c.answer(line, "221 bye")
		return false
	default:
		c.answer(line, "250 ok")
	}
	return true
}

func (c *session) data() bool {
	var b strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
	if c.script != nil && strings.HasPrefix(c.script("."), "5") || c.script != nil && strings.HasPrefix(c.script("."), "4") {
		c.answer(".", "")
		return true
	}
	c.now.data = b.String()
	c.mu.Lock()
	c.letters = append(c.letters, c.now)
	c.mu.Unlock()
	c.answer(".", "250 taken")
	return true
}

// selfSigned makes a certificate for 127.0.0.1, and the pool that trusts it.
func selfSigned(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw := must.Get(x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key))(t)
	parsed := must.Get(x509.ParseCertificate(raw))(t)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
}
