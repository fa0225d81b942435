package resources

import (
	"errors"
	"strings"
)

// Scopes of an action (API contract, 3).
const (
	ScopeAccount  = "account"
	ScopeProject  = "project"
	ScopeResource = "resource"
)

// maxSegmentLength bounds the resource and the verb of an action.
const maxSegmentLength = 64

var (
	errActionForm = errors.New("must have the form <scope>:<resource>:<verb>, for example project:instance:create; " +
		"scope is account, project or resource; resource and verb are 1 to 64 characters of [a-z0-9_-] that begin with a letter")
	errPatternForm = errors.New("must have the form <scope>:<resource>:<verb>, where a segment may be *, for example project:*:read")
)

// Action is one thing that a caller can be permitted to do: `<scope>:<resource>:<verb>`.
type Action struct {
	// ID is the whole string.
	ID string
	// Scope is account, project or resource; Resource and Verb match [a-z][a-z0-9_-]{0,63}.
	Scope, Resource, Verb string
}

// ListedAction is an action that the policy tree lists: in its catalogue, or among those of other services.
type ListedAction struct {
	Action
	// Description says what it does, for people; "" if the tree does not say.
	Description string
}

// ActionUse is a listed action with what the policy tree does with it.
type ActionUse struct {
	ListedAction
	// Routes are the rows of the catalogue with the action, by name.
	Routes []Route
	// Patterns are the permissions of system roles that match the action, each once, in order.
	Patterns []string
}

// ParseAction parses an action. The error describes a valid one.
func ParseAction(s string) (Action, error) {
	scope, resource, verb, ok := splitAction(s)
	if !ok || !validScope(scope) || !validSegment(resource) || !validSegment(verb) {
		return Action{}, errActionForm
	}
	return Action{ID: s, Scope: scope, Resource: resource, Verb: verb}, nil
}

// ParsePattern parses a permission pattern: an action in which a segment may be "*". The
// error describes a valid one.
func ParsePattern(s string) (Action, error) {
	scope, resource, verb, ok := splitAction(s)
	if !ok || (scope != "*" && !validScope(scope)) ||
		(resource != "*" && !validSegment(resource)) || (verb != "*" && !validSegment(verb)) {
		return Action{}, errPatternForm
	}
	return Action{ID: s, Scope: scope, Resource: resource, Verb: verb}, nil
}

// Patterns returns the eight patterns that match the action: each segment is itself or "*". A
// role grants the action when it holds one of them. Those of an action are in order.
func (a Action) Patterns() [8]string {
	var out [8]string
	var all strings.Builder
	all.Grow(len(out) / 2 * (len(a.Scope) + len(a.Resource) + len(a.Verb) + len("::*:*:*"))) // each with its opposite
	for i := range out {
		scope, resource, verb := a.Scope, a.Resource, a.Verb
		if i&4 == 0 {
			scope = "*"
		}
		if i&2 == 0 {
			resource = "*"
		}
		if i&1 == 0 {
			verb = "*"
		}
		start := all.Len()
		for _, part := range [...]string{scope, ":", resource, ":", verb} {
			all.WriteString(part)
		}
		out[i] = all.String()[start:]
	}
	return out
}

// splitAction cuts s at its first two colons; ok is false if s has fewer.
func splitAction(s string) (scope, resource, verb string, ok bool) {
	scope, rest, ok := strings.Cut(s, ":")
	if !ok {
		return "", "", "", false
	}
	resource, verb, ok = strings.Cut(rest, ":")
	return scope, resource, verb, ok
}

func validScope(s string) bool {
	return s == ScopeAccount || s == ScopeProject || s == ScopeResource
}

// validSegment says whether s matches [a-z][a-z0-9_-]{0,63}.
func validSegment(s string) bool {
	if s == "" || len(s) > maxSegmentLength || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
