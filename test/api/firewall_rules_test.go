package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestRuleIsAddedToASecurityGroup: 201 with the rule in its one form; it
// stands in its group, and goes by its id.
func TestRuleIsAddedToASecurityGroup(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	id, remote := w.made(t, "web"), w.made(t, "remote")
	for i, c := range []struct{ sent, want string }{
		{`{"direction":"ingress","protocol":"6","port_range_min":0,"port_range_max":65535,"remote_ip_prefix":"10.1.2.3"}`, "tcp 0 65535 10.1.2.3/32 <nil> <nil> <nil> 100"},
		{`{"direction":"egress","protocol":"17","remote_ip_prefix":"2001:DB8:0::/32","priority":0}`, "udp <nil> <nil> 2001:db8::/32 <nil> <nil> <nil> 0"},
		{`{"direction":"ingress","protocol":"58","icmp_type":128,"icmp_code":0,"remote_ip_prefix":"::/0","priority":32767}`, "58 <nil> <nil> ::/0 <nil> 128 0 32767"},
		{`{"direction":"ingress","protocol":"132","port_range_min":1,"port_range_max":1,"remote_security_group_id":"` + remote + `"}`, "132 1 1 <nil> " + remote + " <nil> <nil> 100"},
		{`{"direction":"ingress","protocol":"0"}`, "0 <nil> <nil> <nil> <nil> <nil> <nil> 100"},
	} {
		r := w.must(t, 201, "POST", "/"+id+"/rules", c.sent)
		harness.WantFields(t, "the answer", r.Body, "security_group_rule", "message")
		rule := r.Body["security_group_rule"]
		var got []string
		for _, name := range []string{"protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_security_group_id", "icmp_type", "icmp_code", "priority"} {
			got = append(got, fmt.Sprint(harness.At(rule, name)))
		}
		text, _ := harness.At(rule, "id").(string)
		if strings.Join(got, " ") != c.want || !ruleID.MatchString(text) || harness.At(rule, "security_group_id") != id || harness.At(rule, "is_deleted") != false {
			t.Errorf("%s is %s", c.sent, r.Raw)
		}
		harness.WantTimes(t, rule, "created_at", "updated_at")
		group := w.must(t, 200, "GET", "/"+id, "")
		if fmt.Sprint(harness.At(group.Body, "security_group", "rules", i)) != fmt.Sprint(rule) {
			t.Errorf("%s has not %s", group.Raw, r.Raw)
		}
		if i == 0 {
			wantWallRefusal(t, "an equal rule", w.do(t, "POST", "/"+id+"/rules", strings.Replace(c.sent, `"6"`, `"tcp"`, 1)), 409, "CONFLICT")
		}
	}
	rules := harness.Texts(harness.At(w.must(t, 200, "GET", "/"+id, "").Body, "security_group", "rules"), "id")
	harness.WantMessage(t, "deleting", w.do(t, "DELETE", "/"+id+"/rules/"+rules[1], ""))
	wantWallRefusal(t, "again", w.do(t, "DELETE", "/"+id+"/rules/"+rules[1], ""), 404, "NOT_FOUND")
	wantWallRefusal(t, "by another group", w.do(t, "DELETE", "/"+remote+"/rules/"+rules[0], ""), 404, "NOT_FOUND")
	wantWallRefusal(t, "to an absent group", w.do(t, "POST", "/sg-absent-v1/rules", onPort(1, "")), 404, "NOT_FOUND")
	left := harness.Texts(harness.At(w.must(t, 200, "GET", "/"+id, "").Body, "security_group", "rules"), "id")
	if strings.Join(left, " ") != strings.Join(append(rules[:1:1], rules[2:]...), " ") {
		t.Errorf("%v are left of %v", left, rules)
	}
}

// TestRuleThatCannotBe (API contract, 5) is refused at its field, in the list of security_group.create as in security_group_rule.create.
func TestRuleThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	id, remote := w.made(t, "web"), w.made(t, "remote")
	of := func(protocol, more string) string {
		return `{"direction":"ingress","protocol":"` + protocol + `"` + more + `}`
	}
	for name, c := range map[string]struct{ rule, wrong string }{
		"nothing":                {`{}`, "direction protocol"},
		"a number as protocol":   {`{"direction":"ingress","protocol":6}`, "protocol"},
		"protocol 256":           {of("256", ""), "protocol"},
		"protocol 06":            {of("06", ""), "protocol"},
		"protocol TCP":           {of("TCP", ""), "protocol"},
		"port 65536":             {of("tcp", `,"port_range_min":1,"port_range_max":65536`), "port_range_max"},
		"port -1":                {of("tcp", `,"port_range_min":-1,"port_range_max":1`), "port_range_min"},
		"ports of no order":      {of("tcp", `,"port_range_min":2,"port_range_max":1`), "port_range_min"},
		"half a range":           {of("tcp", `,"port_range_min":2`), "port_range_max"},
		"ports of gre":           {of("47", `,"port_range_min":1,"port_range_max":2`), "port_range_max port_range_min"},
		"ports of icmp":          {of("icmp", `,"port_range_min":1,"port_range_max":2`), "port_range_max port_range_min"},
		"a type of tcp":          {of("tcp", `,"icmp_type":8`), "icmp_type"},
		"a code alone":           {of("icmp", `,"icmp_code":0`), "icmp_code"},
		"type 256":               {of("icmp", `,"icmp_type":256`), "icmp_type"},
		"priority 32768":         {of("tcp", `,"priority":32768`), "priority"},
		"host bits":              {of("tcp", `,"remote_ip_prefix":"10.0.0.1/8"`), "remote_ip_prefix"},
		"a zone":                 {of("tcp", `,"remote_ip_prefix":"fe80::1%eth0"`), "remote_ip_prefix"},
		"leading zeros":          {of("tcp", `,"remote_ip_prefix":"010.0.0.0/8"`), "remote_ip_prefix"},
		"IPv4 in IPv6":           {of("tcp", `,"remote_ip_prefix":"::ffff:10.0.0.0/104"`), "remote_ip_prefix"},
		"around IPv4 in IPv6":    {of("tcp", `,"remote_ip_prefix":"::fffe:0:0/95"`), "remote_ip_prefix"},
		"IPv4-compatible IPv6":   {of("tcp", `,"remote_ip_prefix":"::1.2.3.4"`), "remote_ip_prefix"},
		"a control character":    {of("tcp", `,"description":"a\u0085b"`), "description"},
		"icmp with IPv6":         {of("icmp", `,"remote_ip_prefix":"::/0"`), "remote_ip_prefix"},
		"icmpv6 with IPv4":       {of("58", `,"remote_ip_prefix":"0.0.0.0/0"`), "remote_ip_prefix"},
		"prefix and group":       {of("tcp", `,"remote_ip_prefix":"0.0.0.0/0"`+namesGroup(remote)), "remote_ip_prefix remote_security_group_id"},
		"an absent group":        {of("tcp", namesGroup("sg-absent-v1")), "remote_security_group_id"},
		"no group's id":          {of("tcp", namesGroup(`{"$ne":""}`)), "remote_security_group_id"},
		"an output field":        {of("tcp", `,"is_deleted":false`), "is_deleted"},
		"a description of 256":   {of("tcp", `,"description":"`+strings.Repeat("x", 256)+`"`), "description"},
		"two problems of a rule": {of("tcp", `,"priority":-1`+namesGroup("sg-absent-v1")), "priority remote_security_group_id"},
	} {
		wantWallRefusal(t, name, w.do(t, "POST", "/"+id+"/rules", c.rule), 400, "BAD_REQUEST", strings.Fields(c.wrong)...)
		var inList []string
		for _, field := range strings.Fields(c.wrong) {
			inList = append(inList, "rules[1]."+field)
		}
		r := w.do(t, "POST", "", w.draft("x", `,"rules":[`+onPort(1, "")+`,`+c.rule+`]`))
		wantWallRefusal(t, name+" in a list", r, 400, "BAD_REQUEST", inList...)
	}
	if r := w.must(t, 200, "GET", "/"+id, ""); len(harness.At(r.Body, "security_group", "rules").([]any)) != 0 {
		t.Errorf("%s", r.Raw)
	}
}
