package resources

import (
	"net"
	"strings"
)

// maxHost bounds a host's name in bytes (RFC 1035, 2.3.4).
const maxHost = 253

// ValidHost says whether the name is that of a host: labels of ASCII letters, digits, hyphens and
// underscores with a dot between, without a port and without a dot at the end.
func ValidHost(name string) bool {
	if len(name) > maxHost {
		return false
	}
	for more := true; more; {
		var label string
		label, name, more = strings.Cut(name, ".") // an iterator would keep the name on the heap
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i] | 0x20; (c < 'a' || c > 'z') && (label[i] < '0' || label[i] > '9') && label[i] != '-' && label[i] != '_' {
				return false
			}
		}
	}
	return true
}

// IsLoopback reports whether a host is reachable from this machine only, so that plain HTTP to it shows nothing to others.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
