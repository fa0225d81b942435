package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
)

// mcpCredentials are what the gateway shows to MCP servers.
type mcpCredentials struct {
	// secretFiles are by the names of their upstreams.
	secretFiles map[string]string
}

// check returns an error for a file without a usable secret.
func (c mcpCredentials) check() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.secretFiles)) {
		if _, err := peer.ReadSecret(c.secretFiles[name]); err != nil {
			all = append(all, fmt.Errorf("--upstream-secret-file %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// missing returns what the settings lack for a server, or "".
func (c mcpCredentials) missing(s *resources.MCPServer) string {
	if s.Credential == resources.MCPCredentialSecret && c.secretFiles[s.Upstream] == "" {
		return "no --upstream-secret-file names the upstream " + s.Upstream
	}
	return ""
}

// credential returns the credential for a call. The error is KindUnavailable if the settings lack it.
func (c mcpCredentials) credential(o mcp.Outgoing) (none peer.Credential, err error) {
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
	}
	return none, resources.Unavailable("this gateway has no credential of the kind "+o.Server.Credential, nil)
}
