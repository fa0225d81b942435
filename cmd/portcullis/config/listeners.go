package config

import (
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// DefaultHealthListen is the default of --health-listen.
const DefaultHealthListen = "127.0.0.1:9002"

// DemoConsole is the default of --console-listen with --demo.
const DemoConsole = "127.0.0.1:9003"

// Listeners says where the process listens; by default only this machine reaches it.
type Listeners struct {
	// Edge and Users are two addresses of the same edge.
	Edge, Users string
	// PublicURL is the URL under which clients reach the edge, "" for unknown.
	PublicURL string
	// ExtAuthz is the address of Envoy's checks, "" for none.
	ExtAuthz string
	// Console is the address of the console, "" for none.
	Console string
	// Health is the private listener of health and metrics.
	Health      string
	HealthHosts string
	// TLS are the files of the edge's certificates.
	TLS listen.CertificateFiles
}

func (l *Listeners) flags(f *pflag.FlagSet) {
	f.StringVar(&l.Edge, "listen", "127.0.0.1:8080", "the `host:port` of the edge; :8080 is every address of the machine")
	f.StringVar(&l.Users, "users-listen", "127.0.0.1:9001", "the `host:port` of the same edge for clients of the user-service address")
	f.StringVar(&l.PublicURL, "public-url", "", "the https `URL` under which clients reach the edge; without it there is no /.well-known/authzen-configuration, and calls of MCP servers are 404")
	f.StringVar(&l.ExtAuthz, "ext-authz-listen", "", "the `host:port` of Envoy's external authorization over gRPC (default: none)")
	f.StringVar(&l.TLS.ProxyCA, "ext-authz-client-ca-file", "", "the `file` of the authorities of proxies, in PEM: context_extensions are taken from a peer with a certificate of one of them alone")
	f.StringVar(&l.Console, "console-listen", "", "the `host:port` of the web console (default: none; with --demo "+DemoConsole+")")
	f.StringVar(&l.Health, "health-listen", DefaultHealthListen, "the `host:port` of health and metrics; keep it private")
	f.StringVar(&l.HealthHosts, "health-hosts", "", "`names` as gw-1.example,gw-2.example under which /decisions, /policy/, /console/ and /debug/ of the private listener are asked, beside addresses, localhost and the machine's own")
	f.StringVar(&l.TLS.Cert, "tls-cert-file", "", "the `file` of the certificate with its chain, in PEM: every listener but the private one speaks TLS; needs --tls-key-file")
	f.StringVar(&l.TLS.Key, "tls-key-file", "", "the `file` of the certificate's private key, in PEM, which only its owner and its group can read")
	f.StringVar(&l.TLS.ClientCA, "tls-client-ca-file", "", "the `file` of the authorities of client certificates, in PEM: a client needs a certificate of one of them")
}

// PrivateHosts returns the names of the private listener for its status and data.
func (l Listeners) PrivateHosts() []string {
	if l.HealthHosts == "" {
		return nil
	}
	return strings.Split(l.HealthHosts, ",")
}

// HasTLS reports whether the edge's listeners speak TLS.
func (l Listeners) HasTLS() bool { return l.TLS.Cert != "" }

// Listener is one address to listen on, and the flag that names it.
type Listener struct{ Flag, Address string }

// All returns the health listener first, then those of the edge: one behind gateways, else two, and
// then Envoy's and the console's, if there are any.
func (l Listeners) All(behindGateways bool) []Listener {
	all := []Listener{{"--health-listen", l.Health}, {"--listen", l.Edge}}
	if !behindGateways {
		all = append(all, Listener{"--users-listen", l.Users})
	}
	if l.ExtAuthz != "" {
		all = append(all, Listener{"--ext-authz-listen", l.ExtAuthz})
	}
	if l.Console != "" {
		all = append(all, Listener{"--console-listen", l.Console})
	}
	return all
}

// Validate returns what is wrong with the addresses. On one address two listeners would not
// start, or health and metrics would be where every client calls.
func (l Listeners) Validate(behindGateways bool) (problems []resources.Problem) {
	if l.PublicURL != "" && !validBase(l.PublicURL) {
		problems = append(problems, problem("--public-url", "must be https://host, with a port and a path where there are, and without a query, fragment, user or slash at its end"))
	}
	for _, name := range l.PrivateHosts() {
		if !resources.ValidHost(name) {
			problems = append(problems, problem("--health-hosts", "must be names of hosts without a port, with commas between, not %q", name))
		}
	}
	all := l.All(behindGateways)
	for i, one := range all {
		host, port, err := net.SplitHostPort(one.Address)
		switch {
		case one.Address == "":
			problems = append(problems, problem(one.Flag, "is empty, and would take any free port; give host:port or :port"))
		case err != nil:
			problems = append(problems, problem(one.Flag, "must be host:port or :port, not %q", one.Address))
		case port != "0":
			for _, other := range all[:i] {
				otherHost, otherPort, err := net.SplitHostPort(other.Address)
				if err == nil && port == otherPort && meet(host, otherHost) {
					problems = append(problems, problem(one.Flag, "is on the address of %s, %s; health and metrics are private, and each listener needs a port of its own",
						other.Flag, other.Address))
				}
			}
		}
	}
	return append(problems, l.validateTLS()...)
}

// needsTLS is what authorities of clients need.
const needsTLS = "needs --tls-cert-file and --tls-key-file: there are no client certificates without TLS"

// validateTLS returns what is missing of the files.
func (l Listeners) validateTLS() (problems []resources.Problem) {
	switch {
	case l.TLS.Cert == "" && l.TLS.Key != "":
		problems = append(problems, problem("--tls-key-file", "needs --tls-cert-file, the certificate of that key"))
	case l.TLS.Cert != "" && l.TLS.Key == "":
		problems = append(problems, problem("--tls-cert-file", "needs --tls-key-file, the private key of that certificate"))
	case l.TLS.Cert == "" && l.TLS.ClientCA != "":
		problems = append(problems, problem("--tls-client-ca-file", needsTLS))
	case l.TLS.Cert == "" && l.TLS.ProxyCA != "":
		problems = append(problems, problem("--ext-authz-client-ca-file", needsTLS))
	}
	if l.TLS.ProxyCA != "" && l.ExtAuthz == "" {
		problems = append(problems, problem("--ext-authz-client-ca-file", "needs --ext-authz-listen, where proxies ask"))
	}
	return problems
}

// validBase reports whether a URL can be the base of others, each byte as it is.
func validBase(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && !strings.HasSuffix(base, "/") &&
		!strings.ContainsAny(base, "?#") && u.String() == base && route.PathProblems("x"+u.EscapedPath()) == nil
}

// meet reports whether two hosts of one port are the same address; an empty or unspecified
// host is every address.
func meet(a, b string) bool { return a == b || every(a) || every(b) }

func every(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
