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

// ruleDraft is a rule that was read.
type ruleDraft struct {
	rule resources.SecurityGroupRule
	// remoteField is the path of remote_security_group_id: whether that group is there
	// is found out later.
	remoteField string
}

// readRule reads a rule into its canonical form. A rule that could not be enforced, or
// that means something else than it says, is refused; what is wrong with it is noted at
// its fields (API contract, 5).
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

func readDirection(o *wire.Object) string {
	if !o.Has("direction") {
		o.Add("direction", "is missing; it is ingress or egress")
		return ""
	}
	return o.OneOf("direction", "", resources.DirectionIngress, resources.DirectionEgress)
}

// readNumber reads a whole number from 0 to most; nil where there is none.
func readNumber(o *wire.Object, name string, most int64) *int {
	n, ok := o.Int(name)
	if !ok {
		return nil
	}
	if n < 0 || n > most {
		o.Add(name, "must be 0 to %d", most)
		return nil
	}
	value := int(n)
	return &value
}

// readPorts reads both ends of a range, or neither.
func readPorts(o *wire.Object, p protocol) (from, to *int) {
	const least, most = "port_range_min", "port_range_max"
	from, to = readNumber(o, least, maxPort), readNumber(o, most, maxPort)
	for _, end := range [][2]string{{least, most}, {most, least}} {
		switch {
		case o.Has(end[0]) && !p.mayHavePorts():
			o.Add(end[0], "has no meaning with this protocol; ports are those of tcp (6), udp (17), dccp (33), sctp (132) and udplite (136)")
		case o.Has(end[1]) && !o.Has(end[0]) && p.mayHavePorts():
			o.Add(end[0], "is missing; a range has both ends, which may be equal")
		}
	}
	if from != nil && to != nil && *from > *to {
		o.Add(least, "must not be greater than %s", most)
	}
	return from, to
}

// readICMP reads which messages are meant.
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
