package outbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/portcullis-authz/portcullis/resources"
)

// SMTP is a mail server that delivers messages, each on a connection of its own.
type SMTP struct {
	name, address, host string
	implicit            bool
	writer              *writer
	tls                 *tls.Config
	// options and redact hold the password in closures, so printing the struct does not show it.
	options []mail.Option
	redact  func(string) string
}

// noSTARTTLS is how the library ends its error about a server that offers no STARTTLS.
const noSTARTTLS = "does not support STARTTLS"

// NewSMTP reads the URL of the mail server:
//
//	smtp://user:password@host:587    STARTTLS is required
//	smtp://host:25?tls=none          no TLS; with user and password for localhost only
//	smtps://user:password@host:465   TLS from the first byte
//
// ?from= is the sender (default: the user if that is an address, else portcullis@host) and ?helo= the
// name of this machine in the greeting (default: its host name). roots verify the server's
// certificate; nil is the system's roots. Errors and log lines do not show the password.
func NewSMTP(rawURL string, roots *x509.CertPool) (*SMTP, error) {
	u, err := parseSMTPURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the mail server's URL can't be used: %w", err)
	}
	letters, err := newWriter(u.sender())
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	s := &SMTP{
		name: u.name(), address: u.address(), host: u.host, implicit: u.implicit, writer: letters,
		tls:    &tls.Config{ServerName: u.host, RootCAs: roots, MinVersion: tls.VersionTLS12},
		redact: redactor(u.user, u.pass),
	}
	// A letter is ASCII, so it needs no SMTPUTF8 of the servers on its way.
	s.options = []mail.Option{mail.WithoutNoop(), mail.WithoutRset(), mail.WithoutSMTPUTF8(), mail.WithTLSConfig(s.tls)}
	switch {
	case u.implicit:
		s.options = append(s.options, mail.WithSSL())
	case u.plain:
		s.options = append(s.options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if u.helo != "" {
		s.options = append(s.options, mail.WithHELO(u.helo))
	}
	if u.user != "" {
		s.options = append(s.options, mail.WithUsername(u.user), mail.WithPassword(u.pass),
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	return s, nil
}

// String returns the server's URL without user and password.
func (s *SMTP) String() string { return s.name }

// Deliver implements Deliverer. The refusal of the recipient (5xx) and a message without a letter are
// permanent errors. All others may be an outage or a setting that the operator corrects.
func (s *SMTP) Deliver(ctx context.Context, m resources.Message) error {
	letter, err := s.writer.write(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel() // closes the connection after a failed log-in, which the library leaves open
	err = s.send(ctx, letter)
	// An error after the server has accepted the letter does not matter.
	if err == nil || letter.IsDelivered() {
		return nil
	}
	said := errors.New(s.redact(err.Error()))
	if strings.HasSuffix(err.Error(), noSTARTTLS) {
		said = fmt.Errorf("%w; --smtp-url with ?tls=none sends mail to it in the clear", said)
	}
	if ctx.Err() != nil {
		said = fmt.Errorf("the mail server did not accept it in time: %w", said)
	}
	if refused(err) {
		return Permanent(said)
	}
	return said
}

// send sends the letter on a new connection.
func (s *SMTP) send(ctx context.Context, letter *mail.Msg) error {
	dial := func(context.Context, string, string) (net.Conn, error) {
		conn, err := dialBound(ctx, "tcp", s.address)
		if err != nil {
			return nil, err
		}
		if s.implicit {
			return tls.Client(conn, s.tls), nil
		}
		return conn, nil
	}
	options := append([]mail.Option{mail.WithDialContextFunc(dial), mail.WithTimeout(DefaultTimeout)}, s.options...)
	client, err := mail.NewClient(s.host, options...)
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, letter)
}

// refused says whether the server refused the recipient permanently. Codes about the connection (not
// logged in, TLS required, wrong order of commands) come from settings and do not count.
func refused(err error) bool {
	var sent *mail.SendError
	if !errors.As(err, &sent) || sent.Reason != mail.ErrSMTPRcptTo {
		return false
	}
	switch code := sent.ErrorCode(); code {
	case 503, 523, 530, 534, 535, 538:
		return false
	default:
		return code >= 500 && code <= 599
	}
}

// redactor returns a function that removes the password from a text, in all forms a server could repeat.
func redactor(user, pass string) func(string) string {
	if pass == "" {
		return func(s string) string { return s }
	}
	encode := base64.StdEncoding.EncodeToString
	var pairs []string
	for _, form := range []string{
		encode([]byte("\x00" + user + "\x00" + pass)), encode([]byte(pass)), pass, url.QueryEscape(pass), url.PathEscape(pass),
	} {
		pairs = append(pairs, form, "[redacted]")
	}
	return strings.NewReplacer(pairs...).Replace
}
