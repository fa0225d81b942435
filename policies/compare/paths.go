package compare

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// path is one value of the input that rules can read.
type path uint8

// The values of the input, as policies/schemas/input lists them.
const (
	actionID path = iota
	actionScope
	actionResource
	actionVerb
	actionPatterns
	routeName
	routeEffect
	routeAccess
	principalKind
	principalID
	principalUUID
	principalAccount
	principalCredential
	principalScopes
	principalKeyScopes
	accountID
	accountExists
	accountStatus
	agentNamed
	agentExists
	agentStatus
	agentCovers
	subjectID
	subjectExists
	subjectStatus
	subjectMember
	subjectRoles
	subjectAssignments
	subjectHere
	targetAccount
	targetProject
	targetProjectState
	targetResource
	targetRest
	targetUser
	grantPermissions
	grantUntil
	inputNow
	paths
)

func (p path) String() string {
	return [paths]string{
		"action.id", "action.scope", "action.resource", "action.verb", "action.patterns",
		"route.name", "route.effect", "route.access",
		"principal.kind", "principal.id", "principal.uuid", "principal.account", "principal.credential", "principal.scopes", "principal.key_scopes",
		"account.id", "account.exists", "account.status",
		"agent.named", "agent.exists", "agent.status", "agent.delegation_covers",
		"subject.id", "subject.exists", "subject.status", "subject.member", "subject.roles", "subject.assignments", "subject.here",
		"target.account", "target.project", "target.project_state", "target.resource", "target.rest", "target.user",
		"grant.permissions", "grant.until", "now",
	}[p]
}

// part is one of the five parts of a question. They vary independently.
type part uint8

// The parts, as doc.go describes them.
const (
	requestPart part = iota // the route and its action
	personPart              // the caller, the user and the account
	targetPart              // the target and the state of its project
	holdingPart             // the assignments of the user
	grantPart               // the permissions to grant, their end, and the current time
	parts
)

// partSet is a set of parts, one bit each.
type partSet uint8

func (p part) bit() partSet { return 1 << p }

// part returns the part that determines the value at a path. subject.here and subject.assignments depend on further
// parts (partsOf).
func (p path) part() part {
	switch {
	case p <= routeAccess:
		return requestPart
	case p <= subjectMember:
		return personPart
	case p <= subjectHere:
		return holdingPart
	case p <= targetUser:
		return targetPart
	}
	return grantPart
}

// expandColumns replaces each derived column with the values from which the gateway derives it.
func expandColumns(read []string) (out []string) {
	for _, path := range read {
		sources := derivedColumns()[path]
		if sources == nil {
			sources = []string{path}
		}
		out = append(out, sources...)
	}
	return out
}

// derivedColumns returns, by derived column, the values from which the gateway derives it.
func derivedColumns() map[string][]string {
	return map[string][]string{
		"account.named": {"account.id"}, "subject.named": {"subject.id"},
		"subject.is_caller": {"subject.id", "principal.id", "principal.kind"},
		"target.level":      {"target.project", "target.resource"}, "target.same_account": {"target.account", "account.id"},
		"target.kind": {"target.rest"}, "target.about": {"target.user", "principal.id", "principal.uuid", "principal.kind"},
		"clock": {"now"}, "clock.hour": {"now"}, "clock.weekday": {"now"},
	}
}

// ref returns the path as a reference below input.
func (p path) ref() (ref ast.Ref) {
	for name := range strings.SplitSeq(p.String(), ".") {
		ref = append(ref, ast.StringTerm(name))
	}
	return ref
}
