package console

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Sessions stores the sessions of signed-in users (resources/sessions).
type Sessions interface {
	// Begin stores a session for an access token and returns the browser's secret. The error is a *resources.Error if
	// the gateway rejects the token.
	Begin(ctx context.Context, token string) (secret string, err error)
	// Redeem exchanges the code of a link for a session. The error is a *resources.Error if the code is unknown, used or
	// expired.
	Redeem(ctx context.Context, code string) (secret string, err error)
	// Session returns the session of a secret, or nil. used restarts the idle timeout.
	Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error)
	// End ends a session, EndAll all sessions of its user.
	End(ctx context.Context, secret string) error
	EndAll(ctx context.Context, secret string) error
	// Seal encrypts a value for a purpose. Open decrypts it and returns false if Seal did not make it for that purpose.
	Seal(value []byte, purpose string) string
	Open(sealed, purpose string) ([]byte, bool)
}

// Config holds the parts of a console. Every field but Private, Provider, Compare and Operators is required.
type Config struct {
	// URL is the console's own, without a path.
	URL *url.URL
	// API sends requests to the edge, Private to the private listener. Both ignore the host in the URL. With a nil
	// Private operators see what other users see.
	API, Private http.RoundTripper
	Sessions     Sessions
	// Provider signs users in. With nil they sign in with links.
	Provider *Provider
	// Compare compares policies for operators. nil disables the page.
	Compare Comparer
	// Operators are the external ids of the users who see the whole installation.
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
	rendered  rendered
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

// pages returns the handlers of pages that need a session, by pattern.
func pages() map[string]func(*page) error {
	all := map[string]func(*page) error{}
	for _, section := range []map[string]func(*page) error{
		overviewPages(), askPages(), whoPages(), peoplePages(), decisionsPages(), changesPages(), policyPages(), comparePages(), platformPages(), approvalPages(),
	} {
		maps.Copy(all, section)
	}
	return all
}

// isOperator reports whether a user sees the whole installation.
func (c *Console) isOperator(user string) bool {
	return c.cfg.Private != nil && slices.Contains(c.cfg.Operators, user)
}
