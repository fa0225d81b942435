package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/users"
)

// providerName is the form of the one value of authentication_partner.
var providerName = regexp.MustCompile(`^[A-Z][A-Z0-9_-]{0,63}$`)

// longestHandle, with an assertion's 30 s before it, stays below the time for which areas
// keep a project closed that is being deleted.
const longestHandle = time.Minute

// Where serve listens by default: nobody but this machine gets there. `health` looks there, too.
const (
	defaultListen       = "127.0.0.1:8080"
	defaultUsersListen  = "127.0.0.1:9001"
	defaultHealthListen = "127.0.0.1:9002"
)

// settings are everything that serve can be told.
type settings struct {
	configFile    string
	dataDir       string
	listen        string
	usersListen   string
	healthListen  string
	masterKeyFile string
	mongoURL      string
	redisURL      string
	lease         time.Duration
	policyDir     string
	policyTimeout time.Duration
	role          string
	areaList      string
	upstreams     []string
	denyStatus    int
	accountsURL   string
	notifyURL     string
	smtpURL       string
	logLevel      string
	logFormat     string
	pprof         bool
	demo          bool
	drain         time.Duration
	issuer        issuerFlags

	// maxGroups and maxRules bound the firewall's growth.
	maxGroups, maxRules int

	identityProvider string
	invitationTTL    time.Duration
	limits           gateway.Limits
	kept             kept
	bounds           boundSettings

	// issuers are the configuration file's; flags name one at most.
	issuers []issuerSettings
	// bases are upstreams, parsed; areas are the resource areas that are in this process.
	bases map[string]*url.URL
	areas []string
	level slog.Level
}

// commonFlags are those of every command that works with the data folder.
func (s *settings) commonFlags(f *pflag.FlagSet) {
	f.StringVar(&s.configFile, "config", "", "a YAML file with the flags' names")
	f.StringVar(&s.dataDir, "data-dir", "./data", "the folder of the embedded store and the master key")
	f.StringVar(&s.masterKeyFile, "master-key-file", "", "the master key (default: master.key in the data folder, made on first start)")
	f.StringVar(&s.mongoURL, "mongo-url", "", "a MongoDB replica set instead of the embedded store: mongodb://…/database?replicaSet=name")
	f.StringVar(&s.identityProvider, "identity-provider", "OIDC", "the upper-case name of the identity provider (authentication_partner)")
	durationVar(f, &s.invitationTTL, "invitation-ttl", users.DefaultInvitationTTL, "how long an invitation binds")
	f.StringVar(&s.policyDir, "policy-dir", "", "a policy tree to use instead of the embedded one; watched and reloaded")
	f.StringVar(&s.issuer.jwksURL, "jwks-url", "", "the key set of an outside issuer, by URL")
	f.StringVar(&s.issuer.jwksFile, "jwks-file", "", "the key set of an outside issuer, in a file")
	f.StringVar(&s.issuer.name, "jwt-issuer", "", "the issuer (iss) of the tokens that are accepted")
	f.StringVar(&s.issuer.audience, "jwt-audience", "", "the audience (aud) of the tokens that are accepted")
}

// serveFlags are serve's own.
func (s *settings) serveFlags(f *pflag.FlagSet) {
	s.commonFlags(f)
	limits := gateway.DefaultLimits()
	f.StringVar(&s.listen, "listen", defaultListen, "the edge; :8080 listens on all addresses")
	f.StringVar(&s.redisURL, "redis-url", "", "with --mongo-url: a cache that replicas share: redis://… or rediss://…")
	durationVar(f, &s.lease, "freshness-lease", defaultLease, "with --mongo-url: for how long a read of the store's epoch is used; 0 reads it for each request")
	f.StringVar(&s.usersListen, "users-listen", defaultUsersListen, "the same edge, for clients of the user-service address")
	f.StringVar(&s.healthListen, "health-listen", defaultHealthListen, "health and metrics; keep it private")
	f.StringVar(&s.role, "role", roleAll, "all, gateway (resource areas are upstreams) or resources (they are here, behind gateways)")
	f.StringVar(&s.areaList, "areas", "", "with --role resources: which areas this process serves, as firewall,clusters")
	f.StringArrayVar(&s.upstreams, "upstream", nil, "name=url: serve the routes of that upstream in another process (repeatable)")
	f.IntVar(&s.denyStatus, "deny-status", 200, "the status of a denied authorize call: 200 or 403")
	f.StringVar(&s.accountsURL, "accounts-url", "", "readiness checks this accounts service instead of the built-in one")
	f.StringVar(&s.notifyURL, "notifications-url", "", "readiness checks this notification service instead of the built-in one")
	f.StringVar(&s.smtpURL, "smtp-url", "", "the mail server: smtp://user:password@host:587 or smtps://… (default: mail goes to the log and the data folder)")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "json", "json or text")
	f.BoolVar(&s.pprof, "pprof", false, "profiles at /debug/pprof on the health listener")
	f.BoolVar(&s.demo, "demo", false, "on an empty store, first make demo data, and print how to ask")
	durationVar(f, &s.drain, "drain-timeout", 10*time.Second, "how long requests under way may take after SIGTERM")
	f.IntVar(&s.maxGroups, "max-security-groups", firewall.DefaultMaxGroups, "how many security groups a project may have")
	f.IntVar(&s.maxRules, "max-security-group-rules", firewall.DefaultMaxRules, "how many rules a security group may have")
	s.kept.flags(f)
	durationVar(f, &s.policyTimeout, "policy-timeout", engine.DefaultDeadline, "how long one evaluation of policy may take, by the clock")
	sizeVar(f, &s.limits.Body, "body-limit", limits.Body, "the largest request body")
	sizeVar(f, &s.limits.Header, "header-limit", limits.Header, "the largest request line with headers")
	durationVar(f, &s.limits.Read, "read-timeout", limits.Read, "how long a request may take to arrive")
	durationVar(f, &s.limits.Write, "write-timeout", limits.Write, "how long an answer may take to be sent")
	durationVar(f, &s.limits.Idle, "idle-timeout", limits.Idle, "how long a connection may be idle")
	durationVar(f, &s.limits.Handle, "handle-timeout", limits.Handle, "how long deciding and handling in this process may take")
	durationVar(f, &s.limits.Upstream, "upstream-timeout", limits.Upstream, "how long an upstream may take to answer")
	s.boundFlags(f)
}

// errDemoIssuer refuses demo calls that could not be signed in.
var errDemoIssuer = errors.New("--demo prints a token of the data folder's own key, which is not accepted beside an outside issuer; leave one of them out")

// check reads what is more than a string, and refuses what can't be meant.
func (s *settings) check() error {
	if s.denyStatus != 200 && s.denyStatus != 403 {
		return fmt.Errorf("--deny-status must be 200 or 403, not %d", s.denyStatus)
	}
	if err := s.level.UnmarshalText([]byte(s.logLevel)); err != nil || strings.ContainsAny(s.logLevel, "+-") { // slog reads error+100
		return fmt.Errorf("--log-level must be debug, info, warn or error, not %q", s.logLevel)
	}
	if !providerName.MatchString(s.identityProvider) {
		return fmt.Errorf("--identity-provider must be 1 to 64 upper-case letters, digits, _ and -, not %q", s.identityProvider)
	}
	if s.invitationTTL < time.Minute {
		return fmt.Errorf("--invitation-ttl must be a minute at least, not %s: nobody could sign in before it is over", s.invitationTTL)
	}
	if s.logFormat != "json" && s.logFormat != "text" {
		return fmt.Errorf("--log-format must be json or text, not %q", s.logFormat)
	}
	positive := map[string]bool{
		"--body-limit": s.limits.Body > 0, "--header-limit": s.limits.Header >= 16<<10, "--read-timeout": s.limits.Read > 0,
		"--write-timeout": s.limits.Write > 0, "--idle-timeout": s.limits.Idle > 0, "--upstream-timeout": s.limits.Upstream > 0,
		"--drain-timeout": s.drain > 0, "--handle-timeout": s.limits.Handle > 0, "--policy-timeout": s.policyTimeout > 0,
		"--max-security-groups": s.maxGroups > 0, "--max-security-group-rules": s.maxRules > 0,
	}
	for name, ok := range positive {
		if !ok {
			return fmt.Errorf("%s is too small: it bounds what a client can take, and has to leave something", name)
		}
	}
	if s.limits.Handle > longestHandle {
		return fmt.Errorf("--handle-timeout must be at most %s: a request that goes on for longer could make something in a project that was deleted meanwhile", longestHandle)
	}
	if s.policyTimeout > s.limits.Handle {
		return fmt.Errorf("--policy-timeout must be at most --handle-timeout (%s), not %s: a request has no more time than that", s.limits.Handle, s.policyTimeout)
	}
	for name, raw := range map[string]string{"--accounts-url": s.accountsURL, "--notifications-url": s.notifyURL} {
		if raw != "" && webAddress(raw) == nil {
			return fmt.Errorf("%s must be http://host:port/path or https://host:port/path, without a user", name)
		}
	}
	for _, check := range []func() error{
		s.kept.check, s.checkLargest, s.checkBounds, s.checkStore, s.checkUpstreams, s.checkRole, s.checkListeners, s.checkFiles,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if s.demo && s.outside() {
		return errDemoIssuer
	}
	return s.issuer.check(len(s.issuers))
}

func (s *settings) checkUpstreams() error {
	s.bases = map[string]*url.URL{}
	for _, pair := range s.upstreams {
		name, raw, _ := strings.Cut(pair, "=")
		base := webAddress(raw)
		if name == "" || base == nil || base.RawQuery != "" {
			return fmt.Errorf("--upstream %q must be name=http://host:port or name=https://host:port, without a user and a query", name)
		}
		if s.bases[name] != nil {
			return fmt.Errorf("--upstream %q is given twice", name)
		}
		s.bases[name] = base
	}
	for name := range s.bases {
		if slices.Contains(builtIn(), name) {
			return fmt.Errorf("--upstream %s: the gateway itself answers these routes, and nobody else can; the areas that can be elsewhere are %s", name, strings.Join(resourceAreas(), ", "))
		}
	}
	return nil
}

// webAddress is an address of a service, nil where it is none.
func webAddress(raw string) *url.URL {
	base, err := url.Parse(raw)
	if err != nil || base.Hostname() == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil || base.Fragment != "" {
		return nil
	}
	return base
}
