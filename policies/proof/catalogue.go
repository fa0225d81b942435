package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// Folders whose data this package decodes; mcpFolder is another.
const (
	grantsFolder  = "grants"
	routesFolder  = "routes"
	actionsFolder = "actions"
)

// catalogue is the tree's data in Go types, for engine.Set.
type catalogue struct {
	routes []resources.Route // sorted by name
	roles  []resources.Role  // sorted by id
	// actions are those of routes, of MCP servers and of data.actions.known, sorted by id.
	actions []resources.ListedAction
	// strict is actionRows.Strict.
	strict bool
	// servers are the MCP servers by name.
	servers map[string]*resources.MCPServer
}

// grantRow is one system role in data.grants.
type grantRow struct {
	Name        string          `json:"name"`
	Scope       string          `json:"scope"`
	Description string          `json:"description"`
	Permissions map[string]bool `json:"permissions"`
}

// readCatalogue checks grants, routes, actions and MCP servers against their schemas, and again by itself against what
// the gateway can serve: the schemas are part of the tree, so an author could loosen them.
func readCatalogue(ctx context.Context, src *policies.Source, docs map[string]documents, p *Problems) *catalogue {
	c := &catalogue{servers: map[string]*resources.MCPServer{}}
	grants, routes := map[string]grantRow{}, map[string]resources.Route{}
	before := len(*p)
	readRows(ctx, src, docs, grantsFolder, &grants, p)
	readRows(ctx, src, docs, routesFolder, &routes, p)
	listed := readActions(ctx, src, docs, p)
	if len(*p) > before {
		return c
	}
	for _, id := range slices.Sorted(maps.Keys(grants)) {
		c.roles = append(c.roles, readRole(id, grants[id], docs[grantsFolder], p))
	}
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		route := routes[name]
		route.Name = name
		c.routes = append(c.routes, route)
	}
	c.checkRoutes(docs[routesFolder], p)
	c.readServers(ctx, src, docs, p)
	c.listActions(listed, docs[actionsFolder], p)
	return c
}

// readRows decodes the documents of a folder into rows if they match their schema, and reports all problems.
func readRows(ctx context.Context, src *policies.Source, docs map[string]documents, folder string, rows any, p *Problems) {
	if len(docs[folder]) == 0 {
		if file := folder + "/data.json"; src.File(file) == nil { // readDocument has reported a file that is there
			p.report(file, 0, "is missing")
		}
		return
	}
	schema := schemaFolder + folder + "/schema.json"
	if src.File(schema) == nil {
		p.report(schema, 0, "is missing")
		return
	}
	before := len(*p)
	docs[folder].match(ctx, src.File(schema), p)
	if len(*p) > before {
		return
	}
	for _, doc := range docs[folder] {
		dec := json.NewDecoder(bytes.NewReader(doc.raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(rows); err != nil {
			p.report(doc.file, 0, "%v", err)
		}
	}
}

// readRole returns a system role, and reports all problems of its row.
func readRole(id string, row grantRow, docs documents, p *Problems) resources.Role {
	problem := func(member, format string, args ...any) {
		file, line := docs.line(id+member, id)
		p.report(file, line, "%s: %s", id, fmt.Sprintf(format, args...))
	}
	if !knownRoleScope(row.Scope) {
		problem("", "scope must be ACCOUNT, PROJECT or RESOURCE")
	}
	if len(row.Permissions) == 0 {
		problem("", "permissions must not be empty")
	}
	permissions := slices.Sorted(maps.Keys(row.Permissions))
	for _, pattern := range permissions {
		member := ".permissions." + pattern
		if _, err := resources.ParsePattern(pattern); err != nil {
			problem(member, "permission %q %v", pattern, err)
		}
		if !row.Permissions[pattern] {
			// A rule could read the value (false) or test for the member (true).
			problem(member, "permission %q must be true; leave it out to not grant it", pattern)
		}
		if row.Scope != resources.RoleScopeAccount && !strings.HasPrefix(pattern, "project:") && !strings.HasPrefix(pattern, "resource:") {
			problem(member, "a %s role holds project: and resource: patterns only, not %q", row.Scope, pattern)
		}
	}
	return resources.Role{
		ID: id, Name: row.Name, Scope: row.Scope, Description: row.Description,
		Status: resources.StatusActive, Permissions: permissions,
	}
}

func knownRoleScope(s string) bool {
	return s == resources.RoleScopeAccount || s == resources.RoleScopeProject || s == resources.RoleScopeResource
}

// grants reports whether a system role grants the action.
func (c *catalogue) grants(action resources.Action) bool {
	patterns := action.Patterns()
	return slices.ContainsFunc(c.roles, func(role resources.Role) bool {
		return slices.ContainsFunc(patterns[:], func(pattern string) bool {
			_, ok := slices.BinarySearch(role.Permissions, pattern)
			return ok
		})
	})
}
