package firewall

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// MaxDeleted is how many deleted groups of a project are kept.
const MaxDeleted = maxDeleted

// MaxGroupBytes bounds a group, MaxPageBytes a page of them.
const (
	MaxGroupBytes = maxGroupBytes
	MaxPageBytes  = maxPageBytes
)

// ReadRule reads a rule's body as security_group_rule.create does; whether a group that it names is there is
// not looked at.
func ReadRule(body []byte) (resources.SecurityGroupRule, error) {
	var p wire.Problems
	draft := readRule((&wire.Request{Body: body}).ParseObject(&p))
	return draft.rule, p.Err()
}

// EqualRules says whether two rules in canonical form are the same one.
func EqualRules(a, b resources.SecurityGroupRule) bool { return identityOf(a) == identityOf(b) }
