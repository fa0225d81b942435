package engine

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Granting returns the system roles that grant the action, by id.
func (p *Pinned) Granting(a resources.Action) []string {
	patterns := a.Patterns()
	var out []string
	for _, role := range p.set.tree.Roles {
		if slices.ContainsFunc(role.Permissions, func(held string) bool { return slices.Contains(patterns[:], held) }) {
			out = append(out, role.ID)
		}
	}
	return out
}

// ByRoles says that the tree allows by assigned roles alone, like the embedded one.
func (p *Pinned) ByRoles() bool { return p.set.byRoles }

// Actions returns the actions that the tree lists, by id.
func (p *Pinned) Actions() []string {
	var out []string
	for _, listed := range p.set.Actions() {
		out = append(out, listed.ID)
	}
	return out
}

// MCPServer returns the MCP server of a name, which nobody changes; nil without one.
func (p *Pinned) MCPServer(name string) *resources.MCPServer { return p.set.MCPServer(name) }

// MCPServers returns the names of the MCP servers, in order.
func (p *Pinned) MCPServers() []string { return p.set.MCPServers() }
