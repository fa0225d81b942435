package outbox

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// smtpURL holds the parts of a mail server's URL.
type smtpURL struct {
	host         string
	port         int
	user, pass   string
	source, helo string
	// implicit is TLS from the first byte (smtps), plain is no TLS (?tls=none). Without both,
	// STARTTLS is required.
	implicit, plain bool
}

const (
	submissionPort  = 587
	submissionsPort = 465
	maxHost         = 253
)

// parseSMTPURL parses smtp://user:password@host:587?from=…&helo=…&tls=none or smtps://…. Its errors
// quote nothing of the URL: if a password has a character that is not percent-encoded, any part of
// the URL may be a part of the password.
func parseSMTPURL(raw string) (*smtpURL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it must be a URL; special characters in user and password need percent-encoding")
	}
	s := &smtpURL{host: u.Hostname(), port: submissionPort}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.implicit, s.port = true, submissionsPort
	default:
		return nil, errors.New("its scheme must be smtp (STARTTLS) or smtps (TLS)")
	}
	if s.host == "" || u.Opaque != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return nil, errors.New("it must be smtp://user:password@host:port; special characters in user and password need percent-encoding")
	}
	if !validServer(s.host) {
		return nil, errors.New("its host must be a host name or an IP address; special characters in user and password need percent-encoding")
	}
	if port := u.Port(); port != "" {
		if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errors.New("its port must be 1 to 65535")
		}
	}
	if err := s.credentials(u.User); err != nil {
		return nil, err
	}
	if err := s.parameters(u.RawQuery); err != nil {
		return nil, err
	}
	// The mail library refuses this too, but at each delivery and not at the start.
	if s.plain && s.user != "" && !s.loopback() {
		return nil, errors.New("tls=none would send the password in the clear: without TLS, user and password are for localhost only")
	}
	return s, nil
}

// credentials sets user and password.
func (s *smtpURL) credentials(given *url.Userinfo) error {
	if given == nil {
		return nil
	}
	s.user = given.Username()
	s.pass, _ = given.Password()
	if s.user == "" || s.pass == "" || strings.ContainsAny(s.user+s.pass, "\x00\r\n") {
		return errors.New("it must have both user and password or neither, without line breaks")
	}
	return nil
}

// parameters sets from, helo and plain from the query.
func (s *smtpURL) parameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("its query is not valid")
	}
	for name, value := range values {
		if len(value) != 1 {
			return errors.New("it must not have a parameter twice")
		}
		switch v := value[0]; {
		case name == "from" && resources.ValidEmail(v):
			s.source = v
		case name == "helo" && validHelo(v):
			s.helo = v
		case name == "tls" && v == "none" && !s.implicit:
			s.plain = true
		case name == "from":
			return errors.New("its from " + resources.EmailRule)
		case name == "helo":
			return errors.New("its helo must be a host name")
		case name == "tls":
			return errors.New("its tls can only be none, and only with smtp")
		default:
			return errors.New("it has an unknown parameter; from, helo and tls are known")
		}
	}
	return nil
}

// sender returns the address of the sender: from, else the user if that is an address, else a mailbox
// at the server.
func (s *smtpURL) sender() string {
	atServer := defaultSender + "@" + s.host
	switch {
	case s.source != "":
		return s.source
	case resources.ValidEmail(s.user):
		return s.user
	case net.ParseIP(s.host) == nil && resources.ValidEmail(atServer):
		return atServer
	default:
		return defaultSender + "@localhost"
	}
}

// loopback says whether the mail library takes the host for this machine.
func (s *smtpURL) loopback() bool {
	return s.host == "localhost" || s.host == "127.0.0.1" || s.host == "::1"
}

// address returns host and port.
func (s *smtpURL) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// name returns the URL without user, password and parameters.
func (s *smtpURL) name() string {
	if s.implicit {
		return "smtps://" + s.address()
	}
	return "smtp://" + s.address()
}

var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?$`)
	heloName   = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Za-z:.]+\])$`)
)

// validServer accepts a host name or an IP address. url.Parse takes other texts for a host too, which
// may be a part of the password.
func validServer(s string) bool {
	_, err := netip.ParseAddr(s)
	return len(s) <= maxHost && (serverName.MatchString(s) || err == nil)
}

// validHelo accepts a host name or an address literal.
func validHelo(s string) bool { return len(s) <= maxHost && heloName.MatchString(s) }
