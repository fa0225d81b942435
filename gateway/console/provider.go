package console

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// loginWithin is the time limit of a sign-in at the identity provider.
	loginWithin = 10 * time.Minute
	// providerWithin is the timeout of a request to the identity provider. maxProvider limits its response, in bytes.
	providerWithin = 10 * time.Second
	maxProvider    = 1 << 20
	// failureLife is how long a failure of the provider is cached.
	failureLife = 5 * time.Second
	// loginPurpose binds a sealed login to its use.
	loginPurpose = "login"
)

// Provider signs users in with OpenID Connect and PKCE. It is safe for concurrent use.
type Provider struct {
	// Issuer is the provider's URL. The discovery document must name the same issuer.
	Issuer string
	// ClientID and Secret are the console's credentials at the provider. A public client has no secret.
	ClientID, Secret string
	// Resource is the API's resource indicator (RFC 8707), or "".
	Resource string
	// Client sends the requests to the provider. nil selects a default client.
	Client *http.Client

	mu       sync.Mutex
	document *discovered
	// failure is the error of the last attempt to read the document, failed its time.
	failure error
	failed  time.Time
}

// discovered holds the parts of the discovery document.
type discovered struct {
	endpoint oauth2.Endpoint
	verifier *oidc.IDTokenVerifier
	// namesItself is true if authorization responses have the parameter iss (RFC 9207).
	namesItself bool
}

// login is the state of a sign-in. The browser keeps it, sealed, in a cookie.
type login struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	ReturnTo string `json:"return_to"`
	EndsAt   int64  `json:"ends_at"` // Unix milliseconds
}

func (p *Provider) host() string {
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Host
}

// context returns a context with which the libraries use the provider's bounded client.
func (p *Provider) context(ctx context.Context) context.Context {
	client := p.Client
	if client == nil {
		client = &http.Client{}
	}
	bounded := *client
	bounded.Timeout, bounded.Transport = providerWithin, boundedAnswers{client.Transport}
	bounded.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a redirect could send the secret to another host
	return oidc.ClientContext(ctx, &bounded)
}

// boundedAnswers truncates response bodies after maxProvider bytes.
type boundedAnswers struct{ inner http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := b.inner
	if inner == nil {
		inner = http.DefaultTransport
	}
	resp, err := inner.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxProvider), resp.Body}
	}
	return resp, err
}

// discover reads the discovery document once. It caches a failure for failureLife: anonymous sign-in requests must not
// flood a provider that is down.
func (p *Provider) discover(ctx context.Context, now func() time.Time) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.document == nil && (p.failure == nil || now().Sub(p.failed) > failureLife) {
		p.document, p.failure = p.read(ctx)
		p.failed = now()
	}
	return p.document, p.failure
}

// read reads the discovery document.
func (p *Provider) read(ctx context.Context) (*discovered, error) {
	provider, err := oidc.NewProvider(p.context(context.WithoutCancel(ctx)), p.Issuer) // the library fetches keys later with this context
	if err != nil {
		return nil, fmt.Errorf("identity provider: %w", err)
	}
	var more struct {
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, fmt.Errorf("identity provider: %w", err)
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = p.style(more.Methods)
	return &discovered{endpoint, provider.Verifier(&oidc.Config{ClientID: p.ClientID}), more.NamesItself}, nil
}

// style returns how the console sends its secret: in the header, the default of OpenID Connect, or in the body. Trying
// both would send the code twice, and a provider then revokes the code's tokens.
func (p *Provider) style(methods []string) oauth2.AuthStyle {
	if p.Secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

func (p *Provider) oauth(d *discovered, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.Secret, Endpoint: d.endpoint, RedirectURL: redirect,
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// parameters returns the request parameters that name the API.
func (p *Provider) parameters() (out []oauth2.AuthCodeOption) {
	if p.Resource != "" {
		out = append(out, oauth2.SetAuthURLParam("resource", p.Resource))
	}
	return out
}

// callback returns the redirect URI.
func (c *Console) callback() string {
	return c.cfg.URL.Scheme + "://" + c.cfg.URL.Host + "/login/callback"
}

// startLogin sends the browser to the identity provider with a page that loads the next one. The Content-Security-Policy
// forbids a form to redirect to another host.
func (c *Console) startLogin(w http.ResponseWriter, r *http.Request) {
	p := c.cfg.Provider
	d, err := p.discover(r.Context(), c.cfg.Now)
	if err != nil {
		c.failLogin(w, r, err)
		return
	}
	l := login{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), ReturnTo: ownPath(r.PostFormValue("return_to")),
		EndsAt: c.cfg.Now().Add(loginWithin).UnixMilli(),
	}
	raw, err := json.Marshal(l)
	if err != nil {
		c.failLogin(w, r, err)
		return
	}
	c.setCookie(w, loginCookie, c.cfg.Sessions.Seal(raw, loginPurpose), loginWithin, http.SameSiteLaxMode)
	target := p.oauth(d, c.callback()).AuthCodeURL(l.State, append(p.parameters(), oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier))...)
	c.templates.render(w, http.StatusOK, "leave", view{Title: "To the identity provider", Theme: themeOf(r), Data: target})
}

// finishLogin handles the authorization response of the identity provider.
func (c *Console) finishLogin(w http.ResponseWriter, r *http.Request) {
	sealed := c.cookie(r, loginCookie)
	c.setCookie(w, loginCookie, "", 0, http.SameSiteLaxMode)
	w.Header().Set("Referrer-Policy", originAlone)
	token, returnTo, err := c.answered(r, sealed)
	if err != nil {
		c.failLogin(w, r, err)
		return
	}
	secret, err := c.cfg.Sessions.Begin(r.Context(), token)
	if err != nil {
		c.failLogin(w, r, err)
		return
	}
	c.begin(w, r, secret, returnTo)
}

// errNotBegun refuses an authorization response that matches no sign-in of this browser.
func errNotBegun() error {
	return resources.Forbidden("this sign-in began in another browser or more than %s ago: sign in again", loginWithin)
}

// answered validates the authorization response, exchanges its code, and returns the access token and the next page.
func (c *Console) answered(r *http.Request, sealed string) (token, returnTo string, err error) {
	var l login
	raw, ok := c.cfg.Sessions.Open(sealed, loginPurpose)
	q := r.URL.Query()
	if !ok || json.Unmarshal(raw, &l) != nil || l.State == "" || len(q["state"]) != 1 || q.Get("state") != l.State || c.cfg.Now().UnixMilli() >= l.EndsAt {
		return "", "", errNotBegun()
	}
	p := c.cfg.Provider
	d, err := p.discover(r.Context(), c.cfg.Now)
	if err != nil {
		return "", "", err
	}
	if issuer, has := q["iss"]; d.namesItself && !has || has && (len(issuer) != 1 || issuer[0] != p.Issuer) {
		return "", "", resources.Forbidden("the response does not name the identity provider %s: sign in again", p.Issuer)
	}
	if refused := q.Get("error"); refused != "" {
		return "", "", resources.Forbidden("the identity provider refused the sign-in: %s", resources.OneLine(refused))
	}
	tokens, err := p.oauth(d, c.callback()).Exchange(p.context(r.Context()), q.Get("code"), append(p.parameters(), oauth2.VerifierOption(l.Verifier))...)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if refused.Response.StatusCode < http.StatusInternalServerError {
			return "", "", resources.Forbidden("the identity provider refused the sign-in: %s", resources.OneLine(refused.ErrorCode))
		}
		err = fmt.Errorf("the token endpoint returned %s", refused.Response.Status) // the body may contain the code
	}
	if err != nil {
		return "", "", fmt.Errorf("identity provider: %w", err)
	}
	named, _ := tokens.Extra("id_token").(string)
	id, err := d.verifier.Verify(p.context(r.Context()), named)
	if err != nil || id.Nonce != l.Nonce {
		return "", "", resources.Forbidden("the identity provider's ID token does not belong to this sign-in: sign in again")
	}
	if tokens.AccessToken == named {
		return "", "", resources.Forbidden("the identity provider returned its ID token as the access token: set --console-resource to the API's resource")
	}
	return tokens.AccessToken, l.ReturnTo, nil
}
