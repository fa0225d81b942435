package firewall

import (
	"net/netip"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// readRemote reads the other end: a prefix, a group, or neither.
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

// parsePrefix reads a CIDR, or an address as the prefix of it alone. The library takes
// neither zeros before a number nor a zone in a CIDR.
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
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, "must not be an IPv4 address written as IPv6; write it as IPv4"
	case prefix != prefix.Masked():
		return netip.Prefix{}, "has host bits that are not zero; the network is " + prefix.Masked().String()
	}
	return prefix, ""
}
