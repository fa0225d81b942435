package firewall_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/test/must"
)

// ruleCase is a rule and its wrong fields, none for an accepted rule.
type ruleCase struct {
	body  string
	wrong string
}

// rule puts fields into an ingress rule of a protocol.
func rule(protocol, fields string) string {
	body := `{"direction":"ingress","protocol":"` + protocol + `"`
	if fields != "" {
		body += "," + fields
	}
	return body + "}"
}

func checkRules(t *testing.T, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := firewall.ReadRule([]byte(c.body))
			fields := map[string]bool{}
			if err != nil {
				for _, p := range resources.AsError(err).Problems {
					fields[p.Field] = true
				}
			}
			if got := strings.Join(slices.Sorted(maps.Keys(fields)), " "); got != c.wrong {
				t.Errorf("%s\nis wrong at %q, want %q: %v", c.body, got, c.wrong, err)
			}
		})
	}
}

// TestDirectionAndProtocolOfARule: both are needed, in the one spelling each has.
func TestDirectionAndProtocolOfARule(t *testing.T) {
	t.Parallel()
	cases := map[string]ruleCase{
		"egress":              {`{"direction":"egress","protocol":"udp"}`, ""},
		"nothing":             {`{}`, "direction protocol"},
		"nulls":               {`{"direction":null,"protocol":null}`, "direction protocol"},
		"empty":               {`{"direction":"","protocol":""}`, "direction protocol"},
		"direction in":        {`{"direction":"in","protocol":"tcp"}`, "direction"},
		"direction Ingress":   {`{"direction":"Ingress","protocol":"tcp"}`, "direction"},
		"direction a list":    {`{"direction":["ingress"],"protocol":"tcp"}`, "direction"},
		"protocol a number":   {`{"direction":"ingress","protocol":6}`, "protocol"},
		"protocol an object":  {`{"direction":"ingress","protocol":{"$ne":""}}`, "protocol"},
		"an output field":     {rule("tcp", `"id":"sgr-x-v1","is_deleted":false`), "id is_deleted"},
		"an unknown field":    {rule("tcp", `"Protocol":"udp"`), "Protocol"},
		"the parent's id":     {rule("tcp", `"security_group_id":"sg-x-v1"`), "security_group_id"},
		"a creation time":     {rule("tcp", `"created_at":"2026-01-01T00:00:00.000Z"`), "created_at"},
		"everything wrong":    {`{"direction":"up","protocol":"ip","port_range_min":-1,"icmp_code":256,"priority":1.5,"remote_ip_prefix":"x"}`, "direction icmp_code port_range_max port_range_min priority protocol remote_ip_prefix"},
		"description 255":     {rule("tcp", `"description":"`+strings.Repeat("é", 255)+`"`), ""},
		"description 256":     {rule("tcp", `"description":"`+strings.Repeat("é", 256)+`"`), "description"},
		"description no text": {rule("tcp", `"description":1`), "description"},
		"beside controls":     {rule("tcp", `"description":" \u007e \u00a0 \u2028"`), ""},
	}
	for _, good := range []string{"tcp", "udp", "icmp", "0", "1", "6", "17", "58", "132", "254", "255"} {
		cases["protocol "+good] = ruleCase{rule(good, ""), ""}
	}
	for _, bad := range []string{
		"TCP", "Udp", "icmpv6", "sctp", "any", "all", "-1", "256", "06", "006", "+6", " 6", "6 ", "6.0", "6e0", "0x6", "1_7", "٦", "99999999999999999999", "tcp,udp",
	} {
		cases["protocol "+bad] = ruleCase{rule(bad, ""), "protocol"}
	}
	for _, control := range []string{`\u0001`, `\t`, `\n`, `\u001f`, `\u007f`, `\u0080`, `\u0085`, `\u009f`} {
		cases["description with "+control] = ruleCase{rule("tcp", `"description":"a`+control+`"`), "description"}
	}
	checkRules(t, cases)
	if _, err := firewall.ReadRule([]byte(`[]`)); err == nil { // a problem of the request, without a field
		t.Error("a list was read as a rule")
	}
}

// TestPortsOfARule: with the protocols that have ports, both ends or neither, in order,
// 0 to 65535.
func TestPortsOfARule(t *testing.T) {
	t.Parallel()
	const low, high = "port_range_min", "port_range_max"
	ports := func(source, target string) string {
		return `"port_range_min":` + source + `,"port_range_max":` + target
	}
	cases := map[string]ruleCase{
		"the whole range":      {rule("tcp", ports("0", "65535")), ""},
		"one port":             {rule("tcp", ports("443", "443")), ""},
		"null is none":         {rule("icmp", ports("null", "null")), ""},
		"-1":                   {rule("tcp", ports("-1", "1")), low},
		"65536":                {rule("tcp", ports("1", "65536")), high},
		"both out of range":    {rule("tcp", ports("65536", "65536")), high + " " + low},
		"2^63":                 {rule("tcp", ports("1", "9223372036854775808")), high},
		"a fraction":           {rule("tcp", ports("1.0", "2")), low},
		"an exponent":          {rule("tcp", ports("1e2", "200")), low},
		"a string":             {rule("tcp", ports(`"80"`, "80")), low},
		"downwards":            {rule("tcp", ports("81", "80")), low},
		"no end":               {rule("tcp", `"port_range_min":80`), high},
		"no beginning":         {rule("udp", `"port_range_max":80`), low},
		"no end, null":         {rule("tcp", ports("80", "null")), high},
		"only with a protocol": {`{"direction":"ingress","port_range_min":80,"port_range_max":80}`, "protocol"},
	}
	for _, p := range []string{"tcp", "6", "udp", "17", "33", "132", "136"} {
		cases["with "+p] = ruleCase{rule(p, ports("1", "2")), ""}
	}
	for _, p := range []string{"icmp", "1", "0", "5", "7", "16", "18", "32", "34", "47", "58", "131", "133", "135", "137", "255"} {
		cases["with "+p] = ruleCase{rule(p, ports("1", "2")), high + " " + low}
		cases["half with "+p] = ruleCase{rule(p, `"port_range_max":2`), high}
	}
	checkRules(t, cases)
}

// TestICMPOfARule: type and code with ICMP alone, a code with its type alone, 0 to 255.
func TestICMPOfARule(t *testing.T) {
	t.Parallel()
	cases := map[string]ruleCase{
		"type 0":              {rule("icmp", `"icmp_type":0`), ""},
		"type 255, code 255":  {rule("icmp", `"icmp_type":255,"icmp_code":255`), ""},
		"type and code 0":     {rule("icmp", `"icmp_type":0,"icmp_code":0`), ""},
		"type 256":            {rule("icmp", `"icmp_type":256`), "icmp_type"},
		"type -1":             {rule("icmp", `"icmp_type":-1`), "icmp_type"},
		"code 256":            {rule("icmp", `"icmp_type":3,"icmp_code":256`), "icmp_code"},
		"code -1":             {rule("icmp", `"icmp_type":3,"icmp_code":-1`), "icmp_code"},
		"code without a type": {rule("icmp", `"icmp_code":0`), "icmp_code"},
		"type a string":       {rule("icmp", `"icmp_type":"8"`), "icmp_type"},
	}
	for _, p := range []string{"icmp", "1", "58"} {
		cases["with "+p] = ruleCase{rule(p, `"icmp_type":8,"icmp_code":0`), ""}
	}
	for _, p := range []string{"tcp", "udp", "6", "0", "2", "57", "59", "132"} {
		cases["with "+p] = ruleCase{rule(p, `"icmp_type":8,"icmp_code":0`), "icmp_code icmp_type"}
	}
	checkRules(t, cases)
}

// TestPriorityOfARule: 0 to 32767, and 100 where none is sent.
func TestPriorityOfARule(t *testing.T) {
	t.Parallel()
	checkRules(t, map[string]ruleCase{
		"0":        {rule("tcp", `"priority":0`), ""},
		"32767":    {rule("tcp", `"priority":32767`), ""},
		"-1":       {rule("tcp", `"priority":-1`), "priority"},
		"32768":    {rule("tcp", `"priority":32768`), "priority"},
		"2^32+100": {rule("tcp", `"priority":4294967396`), "priority"},
		"a string": {rule("tcp", `"priority":"100"`), "priority"},
	})
	for body, want := range map[string]int{rule("tcp", ""): 100, rule("tcp", `"priority":null`): 100, rule("tcp", `"priority":0`): 0} {
		if got, err := firewall.ReadRule([]byte(body)); err != nil || got.Priority != want {
			t.Errorf("%s: %d, %v", body, got.Priority, err)
		}
	}
}

// TestPrefixOfARule: a network without host bits, of the family of the protocol, in no
// form that could be read as another one.
func TestPrefixOfARule(t *testing.T) {
	t.Parallel()
	const field = "remote_ip_prefix"
	prefix := func(p, s string) string {
		quoted := must.Get(json.Marshal(s))(t)
		return rule(p, `"remote_ip_prefix":`+string(quoted))
	}
	cases := map[string]ruleCase{
		"no text":      {rule("tcp", `"remote_ip_prefix":10`), field},
		"icmp, IPv4":   {prefix("icmp", "10.0.0.0/8"), ""},
		"icmp, IPv6":   {prefix("icmp", "2001:db8::/32"), field},
		"1, IPv6":      {prefix("1", "::/0"), field},
		"icmpv6, IPv6": {prefix("58", "2001:db8::/32"), ""},
		"icmpv6, IPv4": {prefix("58", "0.0.0.0/0"), field},
		"prefix and group": {
			rule("tcp", `"remote_ip_prefix":"10.0.0.0/8","remote_security_group_id":"sg-a-v1"`), field + " remote_security_group_id",
		},
		"group alone":          {rule("tcp", `"remote_security_group_id":"sg-a-v1"`), ""},
		"prefix, group null":   {rule("tcp", `"remote_ip_prefix":"10.0.0.0/8","remote_security_group_id":null`), ""},
		"an empty group":       {rule("tcp", `"remote_security_group_id":""`), "remote_security_group_id"},
		"a group that is none": {rule("tcp", `"remote_security_group_id":["sg-a-v1"]`), "remote_security_group_id"},
	}
	for _, good := range []string{
		"0.0.0.0/0", "10.0.0.0/8", "10.1.2.3/32", "10.1.2.3", "255.255.255.255", "192.168.1.128/25", "::/0", "::", "::1", "2001:db8::/32", "2001:DB8::/32",
		"2001:db8:0:0:0:0:0:1/128", "fe80::/10", "64:ff9b::192.0.2.0/120", "::1/128", "::/128",
		"::1:0:0/96", "::fffe:0:0/96", "::1:0:0:0/80", "1::/16", "8000::/1", // beside where IPv4 is written
	} {
		cases[good] = ruleCase{prefix("tcp", good), ""}
	}
	for _, bad := range []string{
		"", " ", "any", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.0/8/8", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0/8\n",
		"10.0.0.1/8", "10.0.0.1/31", "192.168.1.127/25", "0.0.0.1/0", "2001:db8::1/32", "::1/127", // host bits
		"10.0.0", "10", "10.0.0.256", "010.0.0.0/8", "10.00.0.0/8", "0x0a.0.0.0/8", "167772160", "10.0.0.0/255.0.0.0", "1.2.3.4.5",
		"::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "::ffff:0a00:1", "::FFFF:0:0/96", "::ffff:10.0.0.1/128", // IPv4 in IPv6's clothes
		"::fffe:0:0/95", "::/80", "::/64", "::/3", "::/1", "::ffff:0:0/95", "::ffff:255.255.255.255", // what holds all or some of ::ffff:0:0/96
		"::1.2.3.4", "::192.0.2.1", "::1.2.3.0/120", "::/96", "::/97", "::/127", "::2", "::102:304", "::/81", "::/95", // and of ::/96
		"fe80::1%eth0", "fe80::%1/10", "::1%", "2001:db8::/129", "2001:db8:::/32", "[::1]", "[2001:db8::]/32", "g::1", "１0.0.0.0/8",
	} {
		cases[bad] = ruleCase{prefix("tcp", bad), field}
	}
	checkRules(t, cases)
}
