package firewall_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/test/must"
)

// FuzzCIDR compares the prefix of a rule with another reader of addresses. An accepted prefix is
// the same network in its one form, and every network with one form is accepted.
func FuzzCIDR(f *testing.F) {
	for _, text := range []string{
		"10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "::/0", "::1", "2001:DB8::/32", "10.0.0.1/8", "010.0.0.0/8", "10.0.0.0/08", "10.0.0.0/33",
		"::ffff:10.0.0.0/104", "::ffff:1.2.3.4", "::10.0.0.1", "fe80::1%eth0", "fe80::%1/64", "10.0.0/8", "0x0a.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0/-1", "64:ff9b::/96", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := must.Get(json.Marshal(text))(t)
		got, err := firewall.ReadRule([]byte(`{"direction":"ingress","protocol":"tcp","remote_ip_prefix":` + string(value) + `}`))
		want, ok := network(text)
		switch {
		case err == nil && !ok:
			t.Fatalf("%q is taken as %q", text, got.RemoteIPPrefix)
		case err == nil && got.RemoteIPPrefix != want:
			t.Fatalf("%q is %q to one reader and %q to the other", text, got.RemoteIPPrefix, want)
		case err != nil && ok:
			t.Fatalf("%q is refused, and is %q: %v", text, want, err)
		}
	})
}

// network is the one form of a network or address as package net reads it, without zeros before a
// length. It is false if net reads none, if host bits are set, or if IPv6 covers the written form
// of IPv4 addresses.
func network(text string) (string, bool) {
	address, length, given := strings.Cut(text, "/")
	switch {
	case given && len(length) > 1 && length[0] == '0':
		return "", false
	case given:
	case strings.Contains(address, ":"):
		text += "/128"
	default:
		text += "/32"
	}
	ip, subnet, err := net.ParseCIDR(text)
	if err != nil || !ip.Equal(subnet.IP) {
		return "", false
	}
	if ones, bits := subnet.Mask.Size(); strings.Contains(address, ":") {
		all := ones == 0 || ones == bits && (ip.Equal(net.IPv6zero) || ip.Equal(net.IPv6loopback))
		if !all && (meets(ip, ones, net.IPv6zero) || meets(ip, ones, net.ParseIP("::ffff:0:0"))) {
			return "", false
		}
	}
	return subnet.String(), true
}

// meets says whether a network overlaps the 96 bits long one of that address.
func meets(ip net.IP, ones int, other net.IP) bool {
	mask := net.CIDRMask(min(ones, 96), 128)
	a, b := ip.To16(), other.To16()
	for i := range mask {
		if a[i]&mask[i] != b[i]&mask[i] {
			return false
		}
	}
	return true
}
