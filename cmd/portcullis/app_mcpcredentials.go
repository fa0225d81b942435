package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/exchange"
	"github.com/portcullis-authz/portcullis/resources"
)

// mcpCredentials are what the gateway shows to MCP servers.
type mcpCredentials struct {
	// secretFiles and targets are by the names of their upstreams.
	secretFiles map[string]string
	targets     map[string]exchange.Target
	// tokens is nil without a token endpoint.
	tokens *exchange.Client
}

// newMCPCredentials returns the credentials of the settings. It refuses a file without a usable secret.
func newMCPCredentials(s config.MCP) (c mcpCredentials, err error) {
	c.secretFiles, c.targets = s.SecretFiles(), map[string]exchange.Target{}
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.secretFiles)) {
		if _, err := peer.ReadSecret(c.secretFiles[name]); err != nil {
			all = append(all, fmt.Errorf("--upstream-secret-file %s: %w", name, err))
		}
	}
	if s.Exchange.URL != "" {
		secret := func() (string, error) { return peer.ReadSecret(s.Exchange.SecretFile) }
		if _, err := secret(); err != nil {
			all = append(all, fmt.Errorf("--exchange-client-secret-file: %w", err))
		}
		c.tokens = exchange.New(exchange.Options{Endpoint: s.Exchange.URL, ClientID: s.Exchange.ClientID, Secret: secret, Now: time.Now})
	}
	for name, one := range s.Exchange.Targets() {
		c.targets[name] = exchange.Target{Upstream: name, Audience: one.Audience, Resource: one.Resource, Scopes: one.Scopes}
	}
	return c, errors.Join(all...)
}

// missing returns what the settings lack for a server, or "".
func (c mcpCredentials) missing(s *resources.MCPServer) string {
	_, isTarget := c.targets[s.Upstream]
	switch {
	case s.Credential == resources.MCPCredentialSecret && c.secretFiles[s.Upstream] == "":
		return "no --upstream-secret-file names the upstream " + s.Upstream
	case s.Credential == resources.MCPCredentialExchange && !isTarget:
		return "no --exchange-audience and no --exchange-resource names the upstream " + s.Upstream
	}
	return ""
}

// credential returns the credential for a call. Errors: KindUnavailable without one, KindForbidden if the caller gets none.
func (c mcpCredentials) credential(ctx context.Context, o mcp.Outgoing) (none peer.Credential, err error) {
	if missing := c.missing(o.Server); missing != "" {
		return none, resources.Unavailable(missing, nil)
	}
	switch o.Server.Credential {
	case resources.MCPCredentialAssertion:
		return peer.Credential{}, nil
	case resources.MCPCredentialNone:
		return peer.NoCredential(), nil
	case resources.MCPCredentialSecret:
		return peer.SecretIn(c.secretFiles[o.Server.Upstream]), nil
	case resources.MCPCredentialExchange:
		token, err := c.exchanged(ctx, o)
		if err != nil {
			return none, err
		}
		return peer.Bearer(token), nil
	}
	return none, resources.Unavailable("this gateway has no credential of the kind "+o.Server.Credential, nil)
}

// exchanged returns a token of the server for the caller, or for the gateway's own call.
func (c mcpCredentials) exchanged(ctx context.Context, o mcp.Outgoing) (string, error) {
	target := c.target(o.Server)
	if o.Principal.Kind == resources.PrincipalGateway {
		return c.tokens.ForGateway(ctx, target)
	}
	token, err := authn.BearerToken(o.Authorization...)
	if err != nil || o.Principal.Credential != resources.CredentialToken || o.Principal.Client == nil {
		return "", resources.Forbidden("This server needs a caller with a token.")
	}
	return c.tokens.ForCaller(ctx, target, token, time.UnixMilli(int64(o.Principal.Client.Until)))
}

// target returns a server as the authorization server knows it.
func (c mcpCredentials) target(s *resources.MCPServer) exchange.Target {
	t := c.targets[s.Upstream]
	t.Server = s.Name
	return t
}

// refused forgets the exchanged token of a call that the server has answered with 401.
func (c mcpCredentials) refused(o mcp.Outgoing) {
	if o.Server.Credential != resources.MCPCredentialExchange {
		return
	}
	token, _ := authn.BearerToken(o.Authorization...) // the gateway's own call has none
	c.tokens.Forget(c.target(o.Server), token)
}
