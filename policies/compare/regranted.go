package compare

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// regranted returns actions that a system role grants in one tree and not, or not at the same places, in the other one: no
// tree need list them. A wildcard stands for a name that nothing else has.
func (c *comparison) regranted() (ids []string) {
	for side, roles := range c.roles {
		for id, role := range roles {
			other := c.roles[1-side][id]
			for _, permission := range role.Permissions {
				if other != nil && other.Scope == role.Scope {
					if _, held := slices.BinarySearch(other.Permissions, permission); held {
						continue
					}
				}
				ids = append(ids, actionsOf(permission)...)
			}
		}
	}
	return ids
}

// actionsOf returns actions that a pattern matches, one of each scope.
func actionsOf(pattern string) (ids []string) {
	parts := strings.Split(pattern, ":")
	if len(parts) != 3 {
		return nil
	}
	for i, name := range []string{1: unknownResource, 2: unknownVerb} {
		if parts[i] == "*" && i > 0 {
			parts[i] = name
		}
	}
	scopes := []string{parts[0]}
	if parts[0] == "*" {
		scopes = []string{resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource}
	}
	for _, scope := range scopes {
		ids = append(ids, scope+":"+parts[1]+":"+parts[2])
	}
	return ids
}
