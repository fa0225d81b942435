package exchange

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

const (
	// timeout is the deadline of a request.
	timeout = 5 * time.Second
	// margin is the time before its end from which on a token is not used again. It is longer than a request, since
	// expires_in begins with the response.
	margin = 2 * timeout
	// maxTokens limits the cached tokens. Each has at most 8 KiB.
	maxTokens = 1 << 12
)

// Names of RFC 8693.
const (
	grantExchange   = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	typeJWT         = "urn:ietf:params:oauth:token-type:jwt"
)

var (
	errNoSubject  = errors.New("exchange: there is no token of a caller")
	errType       = errors.New("exchange: the response has another type than a bearer access token")
	errUnchanged  = errors.New("exchange: the response has the caller's own token")
	errEnded      = errors.New("exchange: the token in the response has ended")
	errUnreadable = errors.New("exchange: the response is not that of a token endpoint")
	errPanic      = errors.New("exchange: the request panicked")
)

// Options are the settings of a Client. All are required.
type Options struct {
	// Endpoint is the URL of the token endpoint.
	Endpoint string
	// ClientID is the gateway's id at the authorization server. It authenticates with Secret (client_secret_basic), which
	// each request asks for anew.
	ClientID string
	Secret   func() (string, error)
	Now      func() time.Time
}

// Target is the MCP server that gets the tokens.
type Target struct {
	Upstream, Server string
	// Audience and Resource name the server to the authorization server. One of them may be "".
	Audience, Resource string
	Scopes             []string
}

// Client asks the token endpoint. It is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
	tokens  *memo.Table[key, token]
	group   singleflight.Group
}

// key names a token. gateway is true for the gateway's, which has no subject.
type key struct {
	upstream, server string
	subject          [sha256.Size]byte
	gateway          bool
}

// key returns the name of the token for a caller's token, or without one for the gateway.
func (t Target) key(subject string) key {
	k := key{upstream: t.Upstream, server: t.Server, gateway: subject == ""}
	if !k.gateway {
		k.subject = sha256.Sum256([]byte(subject))
	}
	return k
}

// token is a token until the end of its use.
type token struct {
	value string
	until time.Time
}

// New makes a client.
func New(o Options) *Client {
	return &Client{options: o, tokens: memo.New[key, token](maxTokens), http: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the request has tokens
	}}
}

// ForCaller returns a token of the target for the caller's token, which is valid until then. Errors: KindForbidden if the
// authorization server refuses this caller or this target, else KindUnavailable.
func (c *Client) ForCaller(ctx context.Context, t Target, subject string, until time.Time) (string, error) {
	if subject == "" {
		return "", resources.Unavailable(notNow, errNoSubject)
	}
	return c.get(ctx, t, t.key(subject), subject, until)
}

// ForGateway returns a token of the target for the gateway itself. Its errors are those of ForCaller.
func (c *Client) ForGateway(ctx context.Context, t Target) (string, error) {
	return c.get(ctx, t, t.key(""), "", time.Time{})
}

// Forget ends the use of a cached token that the target has refused. The subject is "" for the gateway's own.
func (c *Client) Forget(t Target, subject string) { c.tokens.Put(t.key(subject), token{}) }

// get returns the cached token or asks for one. The request outlives the first caller: others wait for it, too.
func (c *Client) get(ctx context.Context, t Target, k key, subject string, until time.Time) (string, error) {
	if cached := c.cached(k); cached != "" {
		return cached, nil
	}
	done := c.group.DoChan(fmt.Sprintf("%s\n%s\n%x\n%t", k.upstream, k.server, k.subject, k.gateway), func() (_ any, err error) {
		defer func() {
			if p := recover(); p != nil { // on its own goroutine a panic would end the process
				err = resources.Unavailable(notNow, errPanic)
			}
		}()
		if cached := c.cached(k); cached != "" { // the request before this one stored it
			return cached, nil
		}
		got, err := c.ask(context.WithoutCancel(ctx), t, subject)
		if err != nil {
			return "", err
		}
		if subject != "" && until.Before(got.until) {
			got.until = until
		}
		if c.options.Now().Before(got.until) {
			c.tokens.Put(k, got)
		}
		return got.value, nil
	})
	select {
	case r := <-done:
		value, _ := r.Val.(string)
		return value, r.Err
	case <-ctx.Done():
		return "", resources.Unavailable(notNow, ctx.Err())
	}
}

// cached returns a token that may be used now, or "".
func (c *Client) cached(k key) string {
	if got := c.tokens.Get(k); got != nil && c.options.Now().Before(got.until) {
		return got.value
	}
	return ""
}

// ask requests a token from the authorization server. With a subject's token it exchanges that (RFC 8693); without one
// the new token is for the gateway itself. The returned time is zero if the answer has no expires_in.
func (c *Client) ask(ctx context.Context, t Target, subject string) (none token, err error) {
	secret, err := c.options.Secret()
	if err != nil {
		return none, resources.Unavailable(notNow, err)
	}
	form := url.Values{}
	for name, value := range map[string]string{"audience": t.Audience, "resource": t.Resource} {
		if value != "" {
			form.Set(name, value)
		}
	}
	if subject != "" {
		form.Set("grant_type", grantExchange)
		form.Set("subject_token", subject)
		form.Set("subject_token_type", typeAccessToken)
		form.Set("requested_token_type", typeAccessToken)
	}
	grant := clientcredentials.Config{
		ClientID: c.options.ClientID, ClientSecret: secret, TokenURL: c.options.Endpoint, AuthStyle: oauth2.AuthStyleInHeader,
		Scopes: t.Scopes, EndpointParams: form,
	}
	got, err := grant.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err != nil {
		return none, failure(err)
	}
	if err := c.check(got, subject); err != nil {
		return none, resources.Unavailable(notNow, err)
	}
	until := got.Expiry // zero without expires_in
	if !until.IsZero() {
		until = until.Add(-margin)
	}
	return token{got.AccessToken, until}, nil
}

// check returns an error for a token that no server may get.
func (c *Client) check(got *oauth2.Token, subject string) error {
	issued, _ := got.Extra("issued_token_type").(string)
	switch {
	case !strings.EqualFold(got.TokenType, "Bearer"), subject != "" && issued != typeAccessToken && issued != typeJWT:
		return errType
	case got.AccessToken == subject:
		return errUnchanged
	case !got.Expiry.IsZero() && !c.options.Now().Before(got.Expiry):
		return errEnded
	}
	return peer.CheckSecret(got.AccessToken)
}
