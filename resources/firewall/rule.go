package firewall

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Bounds of a rule's numbers (API contract, 4 and 5).
const (
	maxPort         = 65535
	maxICMP         = 255
	maxPriority     = 32767
	defaultPriority = 100
)

// ruleDraft is a rule that is to be made, as the client sent it.
type ruleDraft struct {
	rule resources.SecurityGroupRule
	// remoteField is the path of the field remote_security_group_id in the body.
	remoteField string
}

// readRule reads a rule into its canonical form. It adds problems to a rule that could not be
// enforced or would mean something else than it says (API contract, 5).
func readRule(o *wire.Object) ruleDraft {
	protocol := readProtocol(o)
	rule := resources.SecurityGroupRule{Direction: readDirection(o), Protocol: protocol.text(), Priority: defaultPriority}
	rule.PortRangeMin, rule.PortRangeMax = readPorts(o, protocol)
	rule.ICMPType, rule.ICMPCode = readICMP(o, protocol)
	rule.RemoteIPPrefix, rule.RemoteSecurityGroupID = readRemote(o, protocol)
	if priority := readNumber(o, "priority", maxPriority); priority != nil {
		rule.Priority = *priority
	}
	rule.Description, _ = readDescription(o)
	o.Done()
	return ruleDraft{rule: rule, remoteField: o.Field("remote_security_group_id")}
}

// readDirection reads the required direction of a rule.
func readDirection(o *wire.Object) string {
	if !o.Has("direction") {
		o.Add("direction", "is missing; it is ingress or egress")
		return ""
	}
	return o.OneOf("direction", "", resources.DirectionIngress, resources.DirectionEgress)
}

// readNumber reads a whole number from 0 to limit, nil if it is absent or wrong.
func readNumber(o *wire.Object, name string, limit int64) *int {
	n, ok := o.Int(name)
	if !ok {
		return nil
	}
	if n < 0 || n > limit {
		o.Add(name, "must be 0 to %d", limit)
		return nil
	}
	value := int(n)
	return &value
}

// readPorts reads both ends of a range of ports, nil if they are absent.
func readPorts(o *wire.Object, p protocol) (start, high *int) {
	const first, last = "port_range_min", "port_range_max"
	start, high = readNumber(o, first, maxPort), readNumber(o, last, maxPort)
	for _, end := range [][2]string{{first, last}, {last, first}} {
		switch {
		case o.Has(end[0]) && !p.mayHavePorts():
			o.Add(end[0], "has no meaning with this protocol; ports are those of tcp (6), udp (17), dccp (33), sctp (132) and udplite (136)")
		case o.Has(end[1]) && !o.Has(end[0]) && p.mayHavePorts():
			o.Add(end[0], "is missing; a range has both ends, which may be equal")
		}
	}
	if start != nil && high != nil && *start > *high {
		o.Add(first, "must not be greater than %s", last)
	}
	return start, high
}

// readICMP reads the ICMP type and code of a rule, nil if they are absent.
func readICMP(o *wire.Object, p protocol) (kind, code *int) {
	kind, code = readNumber(o, "icmp_type", maxICMP), readNumber(o, "icmp_code", maxICMP)
	for _, name := range []string{"icmp_type", "icmp_code"} {
		if o.Has(name) && !p.mayBeICMP() {
			o.Add(name, "has no meaning with this protocol; it is that of icmp (1) and icmpv6 (58)")
		}
	}
	if o.Has("icmp_code") && !o.Has("icmp_type") {
		o.Add("icmp_code", "has no meaning without icmp_type")
	}
	return kind, code
}
