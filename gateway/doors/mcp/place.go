package mcp

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// pathPrefix begins the paths of the door.
const pathPrefix = "/mcp/"

// place is where a server is called. Each place is a resource of its own for tokens (RFC 8707).
type place struct {
	// path is as it was sent, below pathPrefix.
	path string
	// account and project are those of the path, "" if it names none.
	account, project string
	server           string
}

// readPlace reads `[accounts/{a}/][projects/{p}/]{server}`. The error is KindNotFound: no such path is a server.
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

// prefix is the part of a path that names account and project.
func (p place) prefix() (prefix string) {
	if p.account != "" {
		prefix = "accounts/" + p.account + "/"
	}
	if p.project != "" {
		prefix += "projects/" + p.project + "/"
	}
	return prefix
}

// target returns the place of a row of the server, as a path of E3 names it: a role on the resource mcp/{server} counts
// for all of the server. Other names than segments are at the place of all of its kind.
func (p place) target(r row) resources.Target {
	all := p.prefix() + "mcp/" + p.server + "/" + r.kind
	path := all
	if r.kind != kindResource && resources.ValidPathSegment(r.name) {
		path += "/" + r.name
	}
	target, problem := route.ParseTarget(path)
	if problem != "" {
		target, _ = route.ParseTarget(all) // which readPlace has read
	}
	return target
}
