package private

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
)

// ownHosts are the private listener's names, beside addresses. A page of another site could give the listener's address
// a name of its own (DNS rebinding), and have a browser call it and read the answer.
type ownHosts map[string]bool

// newOwnHosts returns the configured names, the name in the listener's address, and this machine's names.
func newOwnHosts(listen string, configured []string) ownHosts {
	hosts := ownHosts{"localhost": true}
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" {
		hosts[strings.ToLower(host)] = true
	}
	if host, err := os.Hostname(); err == nil && host != "" {
		hosts[strings.ToLower(host)] = true
	}
	for _, host := range configured {
		hosts[strings.ToLower(host)] = true
	}
	return hosts
}

// has reports whether the value of a Host header is an address or one of the names.
func (hosts ownHosts) has(host string) bool {
	name, ok := route.ParseHost(host)
	if !ok {
		return false
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil || hosts[name]
}

// only refuses calls under any other name: 403.
func (hosts ownHosts) only(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !hosts.has(r.Host) {
			http.Error(w, "the Host is not this listener's: call it by its address, or name the host in --health-hosts", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}
