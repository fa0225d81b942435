package clusters

import (
	"net/netip"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// The networks of a cluster that names none (API contract, E16).
const (
	defaultPods     = "10.244.0.0/16"
	defaultServices = "10.96.0.0/12"
)

// Bounds of a network's prefix length: no more than a whole 10.0.0.0/8, no less than 16
// addresses.
const (
	leastPrefix = 8
	mostPrefix4 = 28
	mostPrefix6 = 124
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

// readNetworks reads the networks of pods and of services: each good by itself, both of
// one address family, and disjoint, also from the default of one that is left out.
func readNetworks(body *wire.Object) (pods, services string) {
	p, podsGood := readNetwork(body, "pod_cidr", defaultPods)
	s, servicesGood := readNetwork(body, "service_cidr", defaultServices)
	if !podsGood || !servicesGood {
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

// readNetwork reads a CIDR; fallback where it is left out.
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

// networkProblem says why a cluster can't use a network, "" where it can.
func networkProblem(network netip.Prefix) string {
	switch {
	case network.Addr().Is4In6():
		return "must not be an IPv4-mapped IPv6 network; write it as IPv4"
	case network != network.Masked():
		return "has host bits that are not zero: the network is " + network.Masked().String()
	case network.Addr().Is4() && (network.Bits() < leastPrefix || network.Bits() > mostPrefix4):
		return "must have a prefix length from 8 to 28"
	case network.Addr().Is6() && (network.Bits() < leastPrefix || network.Bits() > mostPrefix6):
		return "must have a prefix length from 8 to 124"
	}
	for _, u := range unusable() {
		if u.Overlaps(network) {
			return "must not overlap " + u.String() + ", which is reserved"
		}
	}
	return ""
}
