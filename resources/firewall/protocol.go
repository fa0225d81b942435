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

// readProtocol reads a word or a number; unknown where it is neither.
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

// parseProtocol takes a number in the one way in which it is written: no sign, no
// blanks, no zeros before it.
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

// text is the canonical form: the word where there is one, "" for unknown.
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

// mayHavePorts says whether ports mean something; of an unknown protocol it is not known,
// and nothing is told of what depends on it.
func (p protocol) mayHavePorts() bool {
	return slices.Contains([]protocol{tcp, udp, dccp, sctp, udplite, unknown}, p)
}

// mayBeICMP says whether a type and a code mean something, or it is not known.
func (p protocol) mayBeICMP() bool {
	return slices.Contains([]protocol{icmp, icmpv6, unknown}, p)
}
