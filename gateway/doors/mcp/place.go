package mcp

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// pathPrefix is the prefix of the door's paths.
const pathPrefix = "/mcp/"

// place is the address of a server. Each place is a separate resource for tokens (RFC 8707).
type place struct {
	// path is the sent path after pathPrefix.
	path string
	// account and project are "" if the path does not name them.
	account, project string
	server           string
}

// readPlace parses `[accounts/{a}/][projects/{p}/]{server}`. The error is KindNotFound for any other path.
func readPlace(path string) (place, error) {
	if len(route.PathProblems(path)) > 0 {
		return place{}, resources.NotFound("MCP server")
	}
	target, problem := route.ParseTarget(path)
	p := place{path: path, account: target.AccountID, project: target.ProjectID, server: target.Rest}
	if problem != "" || p.server == "" || strings.Contains(p.server, "/") || path != p.prefix()+p.server {
		return place{}, resources.NotFound("MCP server")
	}
	return p, nil
}

// prefix returns the part of the path that names account and project.
func (p place) prefix() (prefix string) {
	if p.account != "" {
		prefix = "accounts/" + p.account + "/"
	}
	if p.project != "" {
		prefix += "projects/" + p.project + "/"
	}
	return prefix
}

// target returns the place of a row in the form of an E3 path. A role on the resource mcp/{server} covers the whole
// server. A name that can't be a path segment has the place of its kind.
func (p place) target(r row) resources.Target {
	all := p.prefix() + "mcp/" + p.server + "/" + r.kind
	path := all
	if r.kind != kindResource && resources.ValidPathSegment(r.name) {
		path += "/" + r.name
	}
	target, problem := route.ParseTarget(path)
	if problem != "" {
		target, _ = route.ParseTarget(all) // readPlace has parsed this part
	}
	return target
}
