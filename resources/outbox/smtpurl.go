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

// smtpURL is a mail server's URL, read.
type smtpURL struct {
	host       string
	port       int
	user, pass string
	from, helo string
	// implicit TLS (smtps) or none at all (?tls=none); otherwise STARTTLS.
	implicit, plain bool
}

const (
	submissionPort  = 587
	submissionsPort = 465
	maxHost         = 253
)

// parseSMTPURL reads smtp://user:password@host:587?from=…&helo=…&tls=none or smtps://….
// Its errors hold nothing of the URL: any part of it may be a piece of a password with a
// character that was not percent-encoded.
func parseSMTPURL(raw string) (*smtpURL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it is no URL; special characters in user and password need percent-encoding")
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
	// The library says the same in the middle of each conversation; here the start fails.
	if s.plain && s.user != "" && !s.loopback() {
		return nil, errors.New("tls=none would send the password in the clear: without TLS, user and password are for localhost only")
	}
	return s, nil
}

func (s *smtpURL) credentials(given *url.Userinfo) error {
	if given == nil {
		return nil
	}
	s.user = given.Username()
	s.pass, _ = given.Password()
	if s.user == "" || s.pass == "" || strings.ContainsAny(s.user+s.pass, "\x00\r\n") {
		return errors.New("user and password belong together, and hold no line breaks")
	}
	return nil
}

func (s *smtpURL) parameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("its parameters can't be read")
	}
	for name, value := range values {
		if len(value) != 1 {
			return errors.New("a parameter stands in it twice")
		}
		switch v := value[0]; {
		case name == "from" && resources.ValidEmail(v):
			s.from = v
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

// sender is the address that letters come from: the one that was given, else the user's
// if it is one, else a mailbox at the server.
func (s *smtpURL) sender() string {
	guess := defaultSender + "@" + s.host
	switch {
	case s.from != "":
		return s.from
	case resources.ValidEmail(s.user):
		return s.user
	case net.ParseIP(s.host) == nil && resources.ValidEmail(guess):
		return guess
	default:
		return defaultSender + "@localhost"
	}
}

// loopback is what the library takes for this machine.
func (s *smtpURL) loopback() bool {
	return s.host == "localhost" || s.host == "127.0.0.1" || s.host == "::1"
}

// address is what to dial.
func (s *smtpURL) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// name is the URL without what is secret.
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

// validServer accepts a host name or an IP address; what else url.Parse takes for a host,
// brackets around anything among it, may be a part of the password.
func validServer(s string) bool {
	_, err := netip.ParseAddr(s)
	return len(s) <= maxHost && (serverName.MatchString(s) || err == nil)
}

// validHelo accepts a host name or an address literal.
func validHelo(s string) bool { return len(s) <= maxHost && heloName.MatchString(s) }
