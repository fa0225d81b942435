package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// DefaultTimeout bounds a call with its retries.
	DefaultTimeout = 5 * time.Second
	// attempts is how often a call is sent at most.
	attempts = 3
	// idlePerHost is how many connections are kept open: a service asks on each of its requests.
	idlePerHost = 128
)

// Options are the settings of a Client. URL and Token are needed.
type Options struct {
	// URL is the gateway's, as https://gateway.example or https://gateway.example/path.
	URL string
	// Token returns the credential of a call, a JWT. It is asked for each call, and should cache.
	Token func(context.Context) (string, error)
	// Timeout bounds a call with its retries; 0 is DefaultTimeout. A search has as much for each page.
	Timeout time.Duration
	// Transport sends the requests; nil is one like http.DefaultTransport. It is where authorities
	// and client certificates of TLS are set.
	Transport http.RoundTripper
}

// Client asks a gateway. It is safe for concurrent use.
type Client struct {
	base    string
	token   func(context.Context) (string, error)
	timeout time.Duration
	http    *http.Client
}

var (
	errNoToken = errors.New("client: Token is required; it returns the service's JWT")
	errURL     = errors.New("client: URL must be http://host:port or https://host:port, with or without a path, without a user, a query and a fragment")
	errTimeout = errors.New("client: Timeout must not be negative")
)

// New returns a client.
func New(o Options) (*Client, error) {
	if err := errors.Join(checkURL(o.URL), checkOptions(o)); err != nil {
		return nil, err
	}
	c := &Client{base: strings.TrimRight(o.URL, "/"), token: o.Token, timeout: o.Timeout, http: httpClient(o.Transport)}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	return c, nil
}

// StaticToken returns a Token that is always the same.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

func checkOptions(o Options) error {
	switch {
	case o.Token == nil:
		return errNoToken
	case o.Timeout < 0:
		return errTimeout
	}
	return nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		strings.ContainsAny(text, "?#") {
		return fmt.Errorf("%w", errURL) // the text is not repeated: it may hold a password
	}
	return nil
}

// httpClient returns a client that follows no redirect, on the transport or on one of its own.
func httpClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		clone := &http.Transport{Proxy: http.ProxyFromEnvironment}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			clone = t.Clone()
		}
		clone.MaxIdleConnsPerHost = idlePerHost
		transport = clone
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
