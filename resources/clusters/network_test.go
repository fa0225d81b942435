package clusters_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNetworksOfACluster: valid, of one address family and disjoint, also from the
// default of a network that is left out. A refusal names the field that was sent.
func TestNetworksOfACluster(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct{ pods, services, problem string }{
		{"", "", ""},
		{"10.244.0.0/16", "10.96.0.0/12", ""},
		{"192.168.0.0/16", "172.16.0.0/12", ""},
		{"10.0.0.0/9", "10.128.0.0/9", ""}, // side by side
		{"11.0.0.0/8", "12.0.0.0/28", ""},
		{"fd00::/48", "fd00:0:1::/112", ""},
		{"fc00::/8", "fd00::/124", ""},
		{"10.112.0.0/12", "", ""}, // the first behind the default of services
		{"", "10.244.0.0/17", "service_cidr: must not overlap pod_cidr, which is 10.244.0.0/16"},
		{"", "10.245.0.0/16", ""},
		{"10.96.0.0/12", "", "pod_cidr: must not overlap service_cidr, which is 10.96.0.0/12"},
		{"10.111.255.240/28", "", "pod_cidr: must not overlap service_cidr, which is 10.96.0.0/12"},
		{"10.0.0.0/8", "", "pod_cidr: must not overlap service_cidr, which is 10.96.0.0/12"},
		{"172.16.0.0/12", "172.31.0.0/16", "pod_cidr: must not overlap service_cidr, which is 172.31.0.0/16"},
		{"172.31.0.0/16", "172.16.0.0/12", "pod_cidr: must not overlap service_cidr, which is 172.16.0.0/12"},
		{"172.16.0.0/16", "172.16.0.0/16", "pod_cidr: must not overlap service_cidr, which is 172.16.0.0/16"},
		{"fd00::/48", "fd00::ff00/120", "pod_cidr: must not overlap service_cidr, which is fd00::ff00/120"},
		{"fd00::/48", "", "pod_cidr: must be of the same address family as service_cidr, which is 10.96.0.0/12"},
		{"", "fd00::/112", "service_cidr: must be of the same address family as pod_cidr, which is 10.244.0.0/16"},
		{"fd00::/48", "10.96.0.0/12", "pod_cidr: must be of the same address family as service_cidr, which is 10.96.0.0/12"},
		{"10.244.0.1/16", "", "pod_cidr: has host bits that are not zero: the network is 10.244.0.0/16"},
		{"", "10.97.0.0/12", "service_cidr: has host bits that are not zero: the network is 10.96.0.0/12"},
		{"fd00::1/48", "fd01::/48", "pod_cidr: has host bits that are not zero: the network is fd00::/48"},
		{"::ffff:10.244.0.0/112", "", "pod_cidr: must not be an IPv4-mapped IPv6 network; write it as IPv4"},
		{"10.0.0.0/7", "", "pod_cidr: must have a prefix length from 8 to 28"},
		{"0.0.0.0/0", "", "pod_cidr: must have a prefix length from 8 to 28"},
		{"12.0.0.0/29", "", "pod_cidr: must have a prefix length from 8 to 28"},
		{"fc00::/7", "fd00::/48", "pod_cidr: must have a prefix length from 8 to 124"},
		{"fd00::/48", "fd01::/125", "service_cidr: must have a prefix length from 8 to 124"},
		{"0.0.0.0/8", "", "pod_cidr: must not overlap 0.0.0.0/8, which is reserved"},
		{"127.0.0.0/16", "", "pod_cidr: must not overlap 127.0.0.0/8, which is reserved"},
		{"169.254.0.0/16", "", "pod_cidr: must not overlap 169.254.0.0/16, which is reserved"},
		{"169.0.0.0/8", "", "pod_cidr: must not overlap 169.254.0.0/16, which is reserved"},
		{"224.0.0.0/8", "", "pod_cidr: must not overlap 224.0.0.0/3, which is reserved"},
		{"240.0.0.0/8", "", "pod_cidr: must not overlap 224.0.0.0/3, which is reserved"},
		{"fe80::/64", "fd00::/48", "pod_cidr: must not overlap fe80::/10, which is reserved"},
		{"ff02::/64", "fd00::/48", "pod_cidr: must not overlap ff00::/8, which is reserved"},
		{"64:ff9b::/96", "fd00::/48", "pod_cidr: must not overlap ::/8, which is reserved"},
	} {
		body := fmt.Sprintf(`{"name":"n%d","flavor_id":"f","image_id":"i"}`, i)
		if c.pods != "" {
			body = replaced(body, "pod_cidr", `"`+c.pods+`"`)
		}
		if c.services != "" {
			body = replaced(body, "service_cidr", `"`+c.services+`"`)
		}
		t.Run(c.pods+" "+c.services, func(t *testing.T) {
			got := w.subTest(t).call("kubernetes_cluster.create", home, "", body)
			if c.problem == "" {
				w.subTest(t).Expect(got, 201)
				return
			}
			if d := details(got); got.Status != 400 || len(d) != 1 || d[0] != c.problem {
				t.Errorf("%d %s, want %s", got.Status, got.Text, c.problem)
			}
		})
	}
}

// TestWhatIsNoCIDR is refused: what two parsers could read differently too.
func TestWhatIsNoCIDR(t *testing.T) {
	w := newWorld(t)
	for _, value := range []string{
		`""`, `"10.244.0.0"`, `"10.244.0.0/"`, `"/16"`, `"10.244.0.0/33"`, `"10.244.0.0/-1"`, `"10.244.0.0/+16"`, `"10.244.0.0/016"`, `"010.244.0.0/16"`, `"10.244.0/16"`,
		`" 10.244.0.0/16"`, `"10.244.0.0/16 "`, `"10.244.0.0/255.255.0.0"`, `"fe80::%eth0/64"`, `"fd00::/129"`, `"[fd00::]/64"`, `"0x0a.244.0.0/16"`, `"٣.244.0.0/16"`, `"any"`,
		`"10.244.0.0/16\n"`,
	} {
		for _, field := range []string{"pod_cidr", "service_cidr"} {
			got := w.call("kubernetes_cluster.create", home, "", `{"name":"n","flavor_id":"f","image_id":"i","`+field+`":`+value+`}`)
			if d := details(got); got.Status != 400 || len(d) != 1 || !strings.HasPrefix(d[0], field+": must be a CIDR") {
				t.Errorf("%s %s: %d %s", field, value, got.Status, got.Text)
			}
		}
	}
	got := w.call("kubernetes_cluster.create", home, "", `{"name":"n","flavor_id":"f","image_id":"i","pod_cidr":16,"service_cidr":["10.96.0.0/12"]}`)
	if d := details(got); got.Status != 400 || len(d) != 2 {
		t.Errorf("%d %s", got.Status, got.Text)
	}
}
