package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Sessions keeps who is signed in (resources/sessions).
type Sessions interface {
	// Begin keeps a session for an access token, and returns the secret for the browser. The error is a
	// *resources.Error if the gateway refuses the token.
	Begin(ctx context.Context, token string) (secret string, err error)
	// Redeem begins a session with the code of a link. The error is a *resources.Error if the code can't be redeemed.
	Redeem(ctx context.Context, code string) (secret string, err error)
	// Session returns the session of a secret, nil if there is none. used begins its idle time anew.
	Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error)
	// End ends a session, EndAll all sessions of its user.
	End(ctx context.Context, secret string) error
	EndAll(ctx context.Context, secret string) error
	// Seal encrypts a value for a purpose, and Open returns it; false is that Seal did not make it.
	Seal(value []byte, purpose string) string
	Open(sealed, purpose string) ([]byte, bool)
}

// Config holds the parts of a console. Every field but Private, Provider, Compare and Operators is required.
type Config struct {
	// URL is the console's own, without a path.
	URL *url.URL
	// API reaches the edge, and Private the operators' listener. The host of a request's URL means nothing to them.
	// nil is that operators see no more than others.
	API, Private http.RoundTripper
	Sessions     Sessions
	// Provider signs people in; nil is that links do.
	Provider *Provider
	// Compare judges policies for operators; nil is that nobody compares.
	Compare Comparer
	// Operators are the external ids of the users who also see the installation.
	Operators []string
	IDs       resources.IDs
	Now       func() time.Time
	Log       *slog.Logger
}

// Console is the console's handler.
type Console struct {
	cfg       Config
	templates *templates
	assets    *assets
	mux       *http.ServeMux
	protect   *http.CrossOriginProtection
	followers *followers
	compares  comparisons
}

// New makes a console.
func New(cfg Config) (*Console, error) {
	c := &Console{cfg: cfg, mux: http.NewServeMux(), protect: http.NewCrossOriginProtection(), followers: newFollowers()}
	var err error
	if c.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if c.templates, err = readTemplates(c.assets, cfg.Log); err != nil {
		return nil, err
	}
	c.mux.HandleFunc("GET "+assetPath+"{name}", c.assets.serve)
	c.publicRoutes()
	for pattern, show := range pages() {
		c.mux.HandleFunc(pattern, c.signedIn(show))
	}
	c.mux.HandleFunc("GET /decisions/new", c.scripted(follow))
	c.mux.HandleFunc("GET /clusters/{project}/{kind}", c.scripted(clusters))
	c.mux.HandleFunc("/", c.signedIn(func(*page) error { return errNoPage }))
	return c, nil
}

// pages are those for who is signed in, by their patterns.
func pages() map[string]func(*page) error {
	all := map[string]func(*page) error{}
	for _, section := range []map[string]func(*page) error{
		overviewPages(), askPages(), whoPages(), peoplePages(), decisionsPages(), changesPages(), policyPages(), comparePages(), platformPages(),
	} {
		for pattern, show := range section {
			all[pattern] = show
		}
	}
	return all
}

// isOperator reports whether a user sees the installation.
func (c *Console) isOperator(user string) bool {
	return c.cfg.Private != nil && slices.Contains(c.cfg.Operators, user)
}
