package route

import (
	"net/netip"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// HostRule is what the value of a Host header must be.
const HostRule = "must be the name of one host, with or without a port and without a dot at its end"

// ParseHost returns the name in the value of a Host header, in small letters and without its port.
// It takes no value that some servers read as another host: with a user, a dot at the end, several
// hosts, an empty port.
func ParseHost(value string) (name string, ok bool) {
	name = value
	if colon := strings.LastIndexByte(value, ':'); colon > strings.LastIndexByte(value, ']') {
		if name = value[:colon]; !isPort(value[colon+1:]) {
			return "", false
		}
	}
	if literal, bracketed := strings.CutPrefix(name, "["); bracketed {
		literal, closed := strings.CutSuffix(literal, "]")
		address, err := netip.ParseAddr(strings.Clone(literal)) // its error would keep every value on the heap
		ok = closed && err == nil && address.Is6() && address.Zone() == ""
	} else {
		ok = resources.ValidHost(name)
	}
	if !ok {
		return "", false
	}
	return strings.ToLower(name), true
}

func isPort(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return 0 < len(text) && len(text) <= len("65535")
}
