package firewall

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// none stands for a number that a rule does not have.
const none = -1

// identity holds the compared fields of a rule: the matched traffic, and the priority.
type identity struct {
	direction, protocol, prefix, remote  string
	portMin, portMax, icmpType, icmpCode int
	priority                             int
}

// identityOf returns the identity of a rule in canonical form.
func identityOf(r resources.SecurityGroupRule) identity {
	number := func(n *int) int {
		if n == nil {
			return none
		}
		return *n
	}
	return identity{
		direction: r.Direction, protocol: r.Protocol, prefix: r.RemoteIPPrefix, remote: r.RemoteSecurityGroupID,
		portMin: number(r.PortRangeMin), portMax: number(r.PortRangeMax),
		icmpType: number(r.ICMPType), icmpCode: number(r.ICMPCode), priority: r.Priority,
	}
}

// checkDifferent refuses rules with equal ones among them, with a problem for each.
func checkDifferent(rules []resources.SecurityGroupRule) error {
	seen := map[identity]int{}
	var equal []resources.Problem
	for i, rule := range rules {
		id := identityOf(rule)
		first, exists := seen[id]
		if !exists {
			seen[id] = i
			continue
		}
		equal = append(equal, resources.Problem{
			Field: fmt.Sprintf("rules[%d]", i), Text: fmt.Sprintf("is the same rule as rules[%d]", first),
		})
	}
	if len(equal) == 0 {
		return nil
	}
	return &resources.Error{Kind: resources.KindConflict, Message: "Two rules of the group are equal.", Problems: equal}
}
