package engine

import "github.com/portcullis-authz/portcullis/resources"

// The denial of an action that a strict tree does not list.
const (
	codeUnknownAction   = "needs_known_action"
	reasonUnknownAction = "unknown action"
)

func actionIDs(listed []resources.ListedAction) map[string]bool {
	ids := make(map[string]bool, len(listed))
	for _, action := range listed {
		ids[action.ID] = true
	}
	return ids
}

// Unlisted says whether the tree is strict and does not list the action, with the denial of each question about it. It
// comes before the rules and the cache: it holds in every tree, for all that its rules read, and costs the others nothing.
// Those that prove a tree ask the rules themselves (Judge).
func (s *Set) Unlisted(action resources.Action) (resources.Decision, bool) {
	if !s.tree.Strict || s.listed[action.ID] {
		return resources.Decision{}, false
	}
	return resources.Decision{
		Code: codeUnknownAction, Reason: reasonUnknownAction, PolicyRevision: s.tree.Revision, BundleRevision: s.tree.Bundle,
	}, true
}
