package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/sessions"
)

// consoleConns limits the connections from the console to the edge: one for each of 200 pages that follow decisions, and
// a hundred for other requests.
const consoleConns = 300

// consoleServer is a console in the gateway's process.
type consoleServer struct {
	server *http.Server
	// edge leads to the edge, operators to the private listener.
	edge, operators *listen.Memory
	url             *url.URL
}

// newSessions makes the sessions of the console. Their tokens have the key with which this process began: it takes no other
// one before its restart.
func (a *app) newSessions() (*sessions.Service, error) {
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		return nil, err
	}
	return sessions.New(sessions.Config{
		Store: a.store, Collections: a.collections, Master: a.master, Now: time.Now, Random: rand.Reader,
		Identify: func(ctx context.Context, token string) (resources.Principal, time.Time, error) {
			caller, err := a.state.authenticator.Authenticate(ctx, []string{"Bearer " + token}, nil)
			switch {
			case err != nil:
				return caller, time.Time{}, err
			case caller.Client == nil:
				return caller, time.Time{}, resources.Forbidden("the credential must be a token: an API key can't sign a user in")
			case caller.Client.HasActor():
				return caller, time.Time{}, resources.Forbidden("the token must be the user's own: an agent can't sign a user in")
			}
			return caller, time.UnixMilli(int64(caller.Client.Until)), nil
		},
		Sign: func(user string, life time.Duration) (string, error) {
			if a.settings.Credentials.Outside() {
				return "", errOutside
			}
			return signer.Sign(authn.TokenRequest{Subject: user, TTL: life})
		},
	})
}

// newConsole makes the console, or returns nil without --console-listen. The door of MCP servers links to it, or to the one
// in a separate process. The console reaches the edge and the private listener of this process in memory. In the demo Alice
// is an operator.
func (a *app) newConsole(ctx context.Context, open listeners, hasDemo bool) (*consoleServer, error) {
	if open.console == nil {
		if elsewhere := a.settings.Console.URL("", false); elsewhere != nil {
			a.mcp.Console = elsewhere.String()
		}
		return nil, nil
	}
	site := &consoleServer{edge: listen.NewMemory(), operators: listen.NewMemory()}
	operators := a.settings.Console.Operators()
	if hasDemo && len(operators) == 0 {
		operators = []string{demo.Alice}
	}
	var err error
	site.server, site.url, err = newConsoleServer(ctx, a.settings, open.console.Addr(), console.Config{
		Sessions: consoleSessions{a.sessions}, Operators: operators, IDs: a.ids, Now: time.Now, Log: a.log.Logger,
		API: reaching(site.edge), Private: reaching(site.operators), Compare: comparer{httpAt(open.health.Addr())},
	})
	if err == nil {
		a.mcp.Console = site.url.String()
	}
	return site, err
}

// newConsoleServer completes cfg from the settings, and returns the console's server and URL.
func newConsoleServer(ctx context.Context, settings *config.Config, address net.Addr, cfg console.Config) (*http.Server, *url.URL, error) {
	s := settings.Console
	cfg.URL = s.URL(reachable(address), settings.Listeners.HasTLS())
	if s.Issuer != "" {
		secret := "" // of a public client
		if s.SecretFile != "" {
			var err error
			if secret, err = readSecret(s.SecretFile); err != nil {
				return nil, nil, fmt.Errorf("--console-client-secret-file: %w", err)
			}
		}
		cfg.Provider = &console.Provider{Issuer: s.Issuer, ClientID: s.ClientID, Secret: secret, Resource: s.Resource}
	}
	handler, err := console.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	limits := settings.Limits.Edge
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: limits.Read, ReadTimeout: limits.Read, IdleTimeout: limits.Idle, MaxHeaderBytes: limits.Header,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(handler.Close)
	return server, cfg.URL, nil
}

// reaching returns a transport to an in-memory listener.
func reaching(l *listen.Memory) *http.Transport {
	return &http.Transport{DialContext: l.Dial, MaxConnsPerHost: consoleConns, MaxIdleConnsPerHost: consoleConns, DisableCompression: true}
}

// shutdown waits for open requests. Call it before the edge stops, since these need the edge. It also waits for connections
// without a request, which browsers open in advance.
func (s *consoleServer) shutdown(timeout time.Duration) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = s.server.Shutdown(ctx) // requests that exceed the time are cut off
}

// consoleSessions adapts the session service to the console: an unknown or ended session is nil.
type consoleSessions struct{ *sessions.Service }

// Session implements console.Sessions.
func (s consoleSessions) Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error) {
	session, err := s.Service.Session(ctx, secret, used)
	if errors.Is(err, sessions.ErrNone) {
		return nil, nil
	}
	return session, err
}

// Redeem implements console.Sessions.
func (s consoleSessions) Redeem(ctx context.Context, code string) (string, error) {
	secret, err := s.Service.Redeem(ctx, code)
	if errors.Is(err, sessions.ErrNone) {
		return "", resources.Forbidden("this link has been used or is older than a minute: make a new one")
	}
	return secret, err
}

// EndAll implements console.Sessions.
func (s consoleSessions) EndAll(ctx context.Context, secret string) error {
	if err := s.Service.EndAll(ctx, secret); !errors.Is(err, sessions.ErrNone) {
		return err
	}
	return nil
}
