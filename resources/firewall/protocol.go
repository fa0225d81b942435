package firewall

import (
	"slices"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// protocol is a number of the IANA registry of internet protocols, or unknown.
type protocol int

const (
	unknown protocol = -1

	icmp    protocol = 1
	tcp     protocol = 6
	udp     protocol = 17
	dccp    protocol = 33
	icmpv6  protocol = 58
	sctp    protocol = 132
	udplite protocol = 136

	lastProtocol = 255
)

// readProtocol reads a protocol, unknown where it is absent or wrong.
func readProtocol(o *wire.Object) protocol {
	text := o.Required("protocol")
	if text == "" {
		return unknown
	}
	p := parseProtocol(text)
	if p == unknown {
		o.Add("protocol", "must be tcp, udp, icmp, or a protocol number 0 to 255 as a string")
	}
	return p
}

// parseProtocol parses tcp, udp, icmp or a number without sign, spaces and leading zeros. Any other
// text is unknown.
func parseProtocol(text string) protocol {
	switch text {
	case "icmp":
		return icmp
	case "tcp":
		return tcp
	case "udp":
		return udp
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < 0 || n > lastProtocol {
		return unknown
	}
	return protocol(n)
}

// text returns the protocol in its canonical form, "" for unknown.
func (p protocol) text() string {
	switch p {
	case unknown:
		return ""
	case icmp:
		return "icmp"
	case tcp:
		return "tcp"
	case udp:
		return "udp"
	default:
		return strconv.Itoa(int(p))
	}
}

// mayHavePorts says whether a rule of the protocol can have ports. It is true for unknown, so a wrong
// protocol is one problem and not several.
func (p protocol) mayHavePorts() bool {
	return slices.Contains([]protocol{tcp, udp, dccp, sctp, udplite, unknown}, p)
}

// mayBeICMP says whether a rule of the protocol can have an ICMP type and code. It is true for
// unknown.
func (p protocol) mayBeICMP() bool {
	return slices.Contains([]protocol{icmp, icmpv6, unknown}, p)
}
