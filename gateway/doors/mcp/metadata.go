package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Metadata answers `GET /.well-known/oauth-protected-resource/mcp/…` (RFC 9728) for each server of the tree in force.
type Metadata struct {
	Door *Door
	// Issuers are the issuers whose tokens the gateway accepts. An authorization server has an https URL (RFC 8414), so the
	// document leaves out other issuers.
	Issuers []string
}

// resourceDocument is the metadata of a protected resource (RFC 9728, 2).
type resourceDocument struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name,omitempty"`
}

// Answer implements doors.Door: 404 without such a server.
func (m Metadata) Answer(_ context.Context, c doors.Call) (doors.Answer, error) {
	_, host, _ := strings.Cut(m.Door.Base, "://")
	_, prefix, _ := strings.Cut(host, "/")
	path, ok := strings.CutPrefix("/"+c.Path, strings.TrimSuffix("/"+prefix, "/")+pathPrefix)
	p, err := readPlace(path)
	if !ok || err != nil || m.Door.Base == "" || c.HasQuery {
		return doors.Answer{}, resources.NotFound("resource")
	}
	server := m.Door.Judge.Pin().MCPServer(p.server)
	if server == nil {
		return doors.Answer{}, resources.NotFound("resource")
	}
	one := m.Door.ResourceOf(pathPrefix + p.path)
	servers := slices.DeleteFunc(slices.Clone(m.Issuers), func(issuer string) bool { return !strings.HasPrefix(issuer, "https://") })
	body, err := wire.Render(resourceDocument{one.URL, servers, one.Scopes, []string{"header"}, server.Title})
	return doors.Answer{Status: 200, Body: body}, err
}
