package firewall

import (
	"net/netip"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// readRemote reads the remote end of a rule: a prefix, a group, or neither.
func readRemote(o *wire.Object, p protocol) (prefix, group string) {
	const byPrefix, byGroup = "remote_ip_prefix", "remote_security_group_id"
	if o.Has(byPrefix) && o.Has(byGroup) {
		o.Add(byPrefix, "excludes %s; send one of them", byGroup)
		o.Add(byGroup, "excludes %s; send one of them", byPrefix)
	}
	group, named := o.Text(byGroup)
	if named && group == "" {
		o.Add(byGroup, "must not be empty; leave it out where no group is meant")
	}
	text, ok := o.Text(byPrefix)
	if !ok {
		return "", group
	}
	parsed, problem := parsePrefix(text)
	switch {
	case problem != "":
	case p == icmp && parsed.Addr().Is6():
		problem = "is IPv6, which icmp never carries; the protocol for it is 58"
	case p == icmpv6 && parsed.Addr().Is4():
		problem = "is IPv4, which icmpv6 (58) never carries; the protocol for it is icmp"
	}
	if problem != "" {
		o.Add(byPrefix, "%s", problem)
		return "", group
	}
	return parsed.String(), group
}

// hidesIPv4 says whether an IPv6 prefix holds IPv4 addresses written as IPv6 ones, which a
// firewall may or may not take for IPv4. All of IPv6 (::/0) and the addresses :: and ::1 are
// clear and may be used.
func hidesIPv4(p netip.Prefix) bool {
	if p.Bits() == 0 || p == netip.PrefixFrom(netip.IPv6Unspecified(), 128) || p == netip.PrefixFrom(netip.IPv6Loopback(), 128) {
		return false
	}
	compatible := netip.MustParsePrefix("::/96") // RFC 4291, 2.5.5.1 and 2.5.5.2
	mapped := netip.PrefixFrom(netip.MustParseAddr("::ffff:0:0"), 96)
	return p.Overlaps(compatible) || p.Overlaps(mapped)
}

// parsePrefix parses a CIDR, or an address as the prefix of that address. problem tells callers what
// is wrong, "" for nothing.
func parsePrefix(text string) (prefix netip.Prefix, problem string) {
	var err error
	if strings.Contains(text, "/") {
		prefix, err = netip.ParsePrefix(text)
	} else {
		var address netip.Addr
		address, err = netip.ParseAddr(text)
		if err == nil && address.Zone() != "" {
			return netip.Prefix{}, "must not have a zone"
		}
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	switch {
	case err != nil:
		return netip.Prefix{}, "must be a CIDR such as 10.1.0.0/16 or 2001:db8::/32, or an address"
	case hidesIPv4(prefix):
		return netip.Prefix{}, "must not reach IPv4 addresses written as IPv6 (::/96 and ::ffff:0:0/96); write those as IPv4"
	case prefix != prefix.Masked():
		return netip.Prefix{}, "has host bits that are not zero; the network is " + prefix.Masked().String()
	}
	return prefix, ""
}
