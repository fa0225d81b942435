package engine

import (
	"github.com/portcullis-authz/portcullis/resources"
)

// ActionUses returns the actions of the tree in force by id, with their rows and the matching permissions.
func (e *Engine) ActionUses() []resources.ActionUse { return e.current.Load().actionUses() }

func (s *Set) actionUses() []resources.ActionUse {
	rows := map[string][]resources.Route{}
	for _, r := range s.Routes() {
		rows[r.Action] = append(rows[r.Action], r)
	}
	held := map[string]bool{}
	for _, role := range s.tree.Roles {
		for _, pattern := range role.Permissions {
			held[pattern] = true
		}
	}
	out := make([]resources.ActionUse, 0, len(s.tree.Actions))
	for _, listed := range s.tree.Actions {
		use := resources.ActionUse{ListedAction: listed, Routes: rows[listed.ID]}
		for _, pattern := range listed.Patterns() {
			if held[pattern] {
				use.Patterns = append(use.Patterns, pattern)
			}
		}
		out = append(out, use)
	}
	return out
}
