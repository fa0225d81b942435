package firewall_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestRuleHasOneForm: however a rule was sent, it is kept and shown in one way.
func TestRuleHasOneForm(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"tcp": "tcp", "6": "tcp", "udp": "udp", "17": "udp", "icmp": "icmp", "1": "icmp", "58": "58", "0": "0", "132": "132"} {
		if got, err := firewall.ReadRule([]byte(rule(sent, ""))); err != nil || got.Protocol != want {
			t.Errorf("protocol %s is %q, want %q: %v", sent, got.Protocol, want, err)
		}
	}
	for sent, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "10.0.0.0/8": "10.0.0.0/8", "0.0.0.0/0": "0.0.0.0/0", "::1": "::1/128", "2001:DB8:0:0::/32": "2001:db8::/32",
		"2001:0db8:0000:0000:0001:0000:0000:0001": "2001:db8::1:0:0:1/128", "64:ff9b::192.0.2.0/120": "64:ff9b::c000:200/120", "0:0:0:0:0:0:0:0/0": "::/0",
	} {
		if got, err := firewall.ReadRule([]byte(rule("tcp", `"remote_ip_prefix":"`+sent+`"`))); err != nil || got.RemoteIPPrefix != want {
			t.Errorf("%s is %q, want %q: %v", sent, got.RemoteIPPrefix, want, err)
		}
	}
}

// TestEqualRulesAreToldApartByWhatTheyMatch guarantees that each field of the traffic, and the
// priority, makes two rules different. Spelling, name and description do not.
func TestEqualRulesAreToldApartByWhatTheyMatch(t *testing.T) {
	t.Parallel()
	read := func(body string) resources.SecurityGroupRule {
		t.Helper()
		got, err := firewall.ReadRule([]byte(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return got
	}
	same := [][2]string{
		{rule("tcp", ""), rule("6", "")},
		{rule("icmp", `"icmp_type":0`), rule("1", `"icmp_type":0`)},
		{rule("tcp", `"remote_ip_prefix":"10.0.0.1"`), rule("6", `"remote_ip_prefix":"10.0.0.1/32"`)},
		{rule("tcp", `"remote_ip_prefix":"2001:DB8::0:1"`), rule("tcp", `"remote_ip_prefix":"2001:db8:0::1/128"`)},
		{rule("tcp", `"priority":100`), rule("tcp", "")},
		{rule("tcp", `"description":"a"`), rule("tcp", `"description":"b"`)},
	}
	for _, pair := range same {
		if a, b := read(pair[0]), read(pair[1]); !firewall.EqualRules(a, b) {
			t.Errorf("%s and %s are told apart", pair[0], pair[1])
		}
	}
	different := []string{
		rule("tcp", ""), `{"direction":"egress","protocol":"tcp"}`, rule("udp", ""), rule("0", ""), rule("58", ""), rule("icmp", ""),
		rule("tcp", `"port_range_min":0,"port_range_max":0`), rule("tcp", `"port_range_min":0,"port_range_max":1`), rule("tcp", `"port_range_min":1,"port_range_max":1`),
		rule("icmp", `"icmp_type":0`), rule("icmp", `"icmp_type":1`), rule("icmp", `"icmp_type":0,"icmp_code":0`), rule("icmp", `"icmp_type":0,"icmp_code":1`),
		rule("tcp", `"remote_ip_prefix":"0.0.0.0/0"`), rule("tcp", `"remote_ip_prefix":"::/0"`), rule("tcp", `"remote_ip_prefix":"0.0.0.0/1"`),
		rule("tcp", `"remote_security_group_id":"sg-a-v1"`), rule("tcp", `"remote_security_group_id":"sg-b-v1"`), rule("tcp", `"priority":0`), rule("tcp", `"priority":101`),
	}
	for i, a := range different {
		for j, b := range different {
			if got := firewall.EqualRules(read(a), read(b)); got != (i == j) {
				t.Errorf("equal=%t: %s and %s", got, a, b)
			}
		}
	}
}

// FuzzRule: what is accepted is in a form that reads as itself and renders back to an
// acceptable rule, and holds what section 5 of the API contract says of a rule.
func FuzzRule(f *testing.F) {
	for _, body := range []string{
		rule("6", `"port_range_min":0,"port_range_max":65535,"remote_ip_prefix":"10.1.2.3","priority":0`),
		rule("58", `"icmp_type":128,"icmp_code":0,"remote_ip_prefix":"2001:DB8::/32"`),
		rule("136", `"remote_security_group_id":"sg-a-v1","description":"é\u0000"`),
		rule("icmp", `"icmp_type":null,"remote_ip_prefix":"::ffff:1.2.3.4"`),
		`{"direction":"egress","protocol":"0"}`, `{}`, `[`, "",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := firewall.ReadRule(body)
		if err != nil {
			if !resources.IsKind(err, resources.KindBadRequest) || len(resources.AsError(err).Problems) == 0 {
				t.Fatalf("refused without a problem: %v", err)
			}
			return
		}
		again, err := firewall.ReadRule(asInput(t, first))
		if err != nil || !reflect.DeepEqual(first, again) || !firewall.EqualRules(first, again) {
			t.Fatalf("%s\nreads as   %+v\nand that as %+v, %v", body, first, again, err)
		}
		if (first.PortRangeMin == nil) != (first.PortRangeMax == nil) || first.PortRangeMin != nil && *first.PortRangeMin > *first.PortRangeMax {
			t.Errorf("ports of %s", body)
		}
		if first.ICMPCode != nil && first.ICMPType == nil || first.ICMPType != nil && first.PortRangeMin != nil {
			t.Errorf("icmp of %s", body)
		}
		if first.RemoteIPPrefix != "" && first.RemoteSecurityGroupID != "" || first.Priority < 0 || first.Priority > 32767 {
			t.Errorf("remote or priority of %s", body)
		}
	})
}

// asInput renders a rule without the fields that are output only.
func asInput(t *testing.T, r resources.SecurityGroupRule) []byte {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	must.Do(t, json.Unmarshal(raw, &fields))
	for _, name := range []string{"id", "security_group_id", "created_at", "updated_at", "is_deleted"} {
		delete(fields, name)
	}
	if raw, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return raw
}
