package clusters

import (
	"net/netip"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// The default networks of a cluster (API contract, E16).
const (
	defaultPods     = "10.244.0.0/16"
	defaultServices = "10.96.0.0/12"
)

// Bounds of a network's prefix length. The smallest network has 16 addresses.
const (
	minPrefix  = 8
	maxPrefix4 = 28
	maxPrefix6 = 124
)

// unusable returns the networks in which a pod or a service can't have an address: this
// host, loopback, link-local, multicast and reserved ones.
func unusable() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/3"),
		netip.MustParsePrefix("::/8"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
	}
}

// readNetworks reads the networks of pods and services. Both must be of one address family and
// must not overlap; the default takes the place of an absent one.
func readNetworks(body *wire.Object) (pods, services string) {
	p, podsOK := readNetwork(body, "pod_cidr", defaultPods)
	s, servicesOK := readNetwork(body, "service_cidr", defaultServices)
	if !podsOK || !servicesOK {
		return "", ""
	}
	field, other, network := "pod_cidr", "service_cidr", s
	if !body.Has("pod_cidr") {
		field, other, network = "service_cidr", "pod_cidr", p
	}
	switch {
	case p.Addr().Is4() != s.Addr().Is4():
		body.Add(field, "must be of the same address family as %s, which is %s", other, network)
	case p.Overlaps(s):
		body.Add(field, "must not overlap %s, which is %s", other, network)
	}
	return p.String(), s.String()
}

// readNetwork reads a CIDR usable by a cluster; fallback if it is absent.
func readNetwork(body *wire.Object, field, fallback string) (netip.Prefix, bool) {
	if !body.Has(field) {
		return netip.MustParsePrefix(fallback), true
	}
	text, ok := body.Text(field)
	if !ok {
		return netip.Prefix{}, false
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		body.Add(field, "must be a CIDR, for example %s", fallback)
		return netip.Prefix{}, false
	}
	if problem := networkProblem(network); problem != "" {
		body.Add(field, "%s", problem)
		return netip.Prefix{}, false
	}
	return network, true
}

// networkProblem says why a cluster can't use a network, "" if it can.
func networkProblem(network netip.Prefix) string {
	switch {
	case network.Addr().Is4In6():
		return "must not be an IPv4-mapped IPv6 network; write it as IPv4"
	case network != network.Masked():
		return "has host bits that are not zero: the network is " + network.Masked().String()
	case network.Addr().Is4() && (network.Bits() < minPrefix || network.Bits() > maxPrefix4):
		return "must have a prefix length from 8 to 28"
	case network.Addr().Is6() && (network.Bits() < minPrefix || network.Bits() > maxPrefix6):
		return "must have a prefix length from 8 to 124"
	}
	for _, u := range unusable() {
		if u.Overlaps(network) {
			return "must not overlap " + u.String() + ", which is reserved"
		}
	}
	return ""
}
