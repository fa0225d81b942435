package attacks_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// values are what a reader takes for something else than it says.
func values(w *attacksWorld, r *refusals) {
	tenant := w.tenant
	admin := bearer(tenant.adminToken)
	send := func(name, method, target, body string) {
		r.send(name, request(method, target, body, admin, "X-Account-ID: "+tenant.account), 400)
	}
	rule := tenant.path(tenant.sgPath(tenant.project, "/"+tenant.securityGroup+"/rules"))
	for _, prefix := range []string{
		"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8", "010.0.0.0/8", "10.0.0/8", "10/8", "0x0a.0.0.0/8", "167772160/8", "10.0.0.0/255.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/8/8", " 10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.0/8\n", "0.0.0.1/0", "::1/0", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "::ffff:a00:0/104", "fe80::1%eth0/64", "fe80::1%25eth0", "2001:db8::1/32",
		"2001:db8::/129", "2001:db8:::/32", "[2001:db8::]/32", "10.0.0.0-10.0.0.9", "10.0.0.0,10.1.0.0", "localhost", "example.com", "*", "any", "\uff11\uff10.0.0.0/8", "10\u30020\u30020\u30020/8", "10.0.0.0\u22158", "10.0.0.256/8", "1.2.3.4.5", "1e1.0.0.0/8", "::/0/0", "12345::/16",
	} {
		send("prefix "+prefix, "POST", rule, encoded(map[string]any{"direction": "ingress", "protocol": "tcp", "remote_ip_prefix": prefix}))
	}
	for _, body := range []string{
		`"protocol":"icmp","port_range_min":80,"port_range_max":80`, `"protocol":"1","port_range_min":80,"port_range_max":80`, `"protocol":"gre","port_range_min":1,"port_range_max":2`, `"protocol":"47","port_range_min":1,"port_range_max":2`, `"protocol":"112","port_range_min":1,"port_range_max":2`, `"protocol":"tcp","port_range_min":80`, `"protocol":"tcp","port_range_max":80`, `"protocol":"tcp","port_range_min":81,"port_range_max":80`,
		`"protocol":"tcp","port_range_min":-1,"port_range_max":80`, `"protocol":"tcp","port_range_min":1,"port_range_max":65536`, `"protocol":"tcp","port_range_min":80.5,"port_range_max":81`, `"protocol":"tcp","port_range_min":1e1,"port_range_max":1e3`, `"protocol":"tcp","port_range_min":80.0,"port_range_max":80.0`, `"protocol":"tcp","icmp_type":8`, `"protocol":"udp","icmp_type":8,"icmp_code":0`, `"protocol":"icmp","icmp_code":0`, `"protocol":"icmp","icmp_type":256`,
		`"protocol":"icmp","icmp_type":-1`, `"protocol":"tcp","icmp_code":0`, `"protocol":"icmp","remote_ip_prefix":"2001:db8::/32"`, `"protocol":"58","remote_ip_prefix":"10.0.0.0/8"`, `"protocol":"TCP"`, `"protocol":"tcp "`, `"protocol":"256"`, `"protocol":"-1"`, `"protocol":"06"`, `"protocol":"+6"`, `"protocol":"6.0"`, `"protocol":"0x6"`, `"protocol":""`, `"protocol":"any"`, `"protocol":"*"`, `"protocol":6`, `"protocol":"\uff16"`, `"protocol":"tcp","priority":-1`, `"protocol":"tcp","priority":32768`,
		`"protocol":"tcp","direction":"INGRESS"`, `"protocol":"tcp","remote_ip_prefix":"10.0.0.0/8","remote_security_group_id":"` + tenant.securityGroup + `"`, `"protocol":"tcp","remote_security_group_id":"` + strings.ToUpper(tenant.securityGroup) + `"`,
	} {
		send("rule "+body, "POST", rule, `{"direction":"ingress",`+body+`}`)
	}
	r.send("tcp and 6 are one rule", request("POST", rule, `{"direction":"ingress","protocol":"6","port_range_min":80,"port_range_max":80}`, admin), 409)
	for _, email := range []string{
		"", " ", "a", "a@", "@b.example", "a@b@c.example", "a b@c.example", "a@b .example", "a@b.example ", " a@b.example", "a@b.example\n", "a@b.example\r\nBcc: c@d.example", "a@b.example%0aBcc:c@d.example", "a@b.example,c@d.example", "a@b.example;c@d.example", "<a@b.example>", "A <a@b.example>", "a(comment)@b.example", `"a"@b.example`, `"a b"@c.example`, "a@[127.0.0.1]", "a@b..example", "a..b@c.example", ".a@b.example", "a.@b.example",
		"a@-b.example", "a@b-.example", "a@b.example.", "\u00e4@b.example", "a@\u00e4.example", "a@b.e\u0445ample", "\u0131nvited@ours.example", "a\u200b@b.example", "a\u00a0@b.example", "a@b\uff0eexample", strings.Repeat("a", 65) + "@b.example", "a@" + strings.Repeat("b", 250) + ".example", "mailto:a@b.example", "a@b.example?cc=c@d.example", "a\x00@b.example", "a@b.example\x00", "a\\@b.example", "=?utf-8?q?a?=@b.example", "a%c.example@b.example", "c.example!a@b.example", "a@localhost\tb",
	} {
		send(fmt.Sprintf("e-mail %q", email), "POST", tenant.path("/users/invite"), encoded(map[string]string{"email": email}))
	}
	for _, name := range []string{"", " ", "\t", strings.Repeat("a", 256), strings.Repeat("\u00e4", 256), strings.Repeat("\U0001f600", 256), "a\nb", "a\rb", "a\x1b[31mb", "a\u0085b", "a\u2028b", "a\u2029b", "a\u202eb", "\x7f"} {
		send(fmt.Sprintf("profile name %.20q", name), "PUT", tenant.path("/users/"+tenant.admin+"/profile"), encoded(map[string]string{"name": name}))
	}
	for _, body := range []string{`"pod_cidr":"10.0.0.0/8","service_cidr":"10.1.0.0/16"`, `"pod_cidr":"10.0.0.1/16"`, `"pod_cidr":"::ffff:10.0.0.0/104"`, `"pod_cidr":"10.0.0.0"`, `"service_cidr":"10.244.0.0/16"`, `"node_count":0`, `"node_count":1001`, `"node_count":1e2`, `"k8s_version":"1"`, `"k8s_version":"v2.1"`, `"k8s_version":"1.30; rm"`, `"cni_plugin":"CALICO"`, `"cni_plugin":"none"`, `"name":"-a"`, `"name":"A"`, `"name":"a_b"`, `"name":"a.b"`, `"name":"` + strings.Repeat("a", 64) + `"`, `"name":"a-"`} {
		members := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(kubernetesBody), &members) // a constant
		_ = json.Unmarshal([]byte("{"+body+"}"), &members)   // whose members are replaced
		send("cluster "+body, "POST", tenant.path("/projects/"+tenant.project+"/kubernetes"), encoded(members))
	}
	for _, pattern := range []string{"*", "**", "*:*", "account:*", "account:*:*:*", "account:user:read:x", "account:us*:read", "account:user:re?d", "account:[a]:read", "account:user:{read,write}", "ACCOUNT:user:read", "account:User:read", "account::read", "account:user:", ":user:read", "account:user:read ", "account:user:\u200bread", "accounts:user:read", "account:" + strings.Repeat("a", 65) + ":read", "account:1user:read", "account:user.x:read", "account:user/x:read"} {
		send(fmt.Sprintf("pattern %q", pattern), "POST", tenant.path("/roles"), encoded(map[string]any{"name": "n", "scope": "ACCOUNT", "permissions": []string{pattern}}))
	}
	for _, place := range []string{"2020-01-01T00:00:00Z", "tomorrow", "2099-13-01T00:00:00Z", "2099-01-01", "2099-01-01 00:00:00Z", "4070908800", "", "2099-01-01T00:00:00", "0000-00-00T00:00:00Z", "2099-02-30T00:00:00Z", "2099-01-01T25:00:00Z", "+292278994-08-17T07:12:55Z"} {
		send("key that ends "+place, "POST", tenant.path("/users/"+tenant.admin+"/keys"), encoded(map[string]any{"key_name": "k", "scopes": []string{"read"}, "expires_at": place}))
	}
	for _, scopes := range [][]string{{}, {""}, {"admin"}, {"READ"}, {"read", "read"}, {"read "}, {"*"}, {"read,write"}, {"read", "x"}} {
		send(fmt.Sprintf("key of %q", scopes), "POST", tenant.path("/users/"+tenant.admin+"/keys"), encoded(map[string]any{"key_name": "k", "scopes": scopes}))
	}
}

// metadata that looks like something else comes back as it was sent.
func metadata(w *attacksWorld, r *refusals) {
	tenant := w.tenant
	for i, data := range []string{
		`{"$ne":null}`, `{"$set":{"status":"deleted"},"a.b":1,"$where":"x"}`, `{"$oid":"507f1f77bcf86cd799439011"}`, `{"$date":"2020-01-01T00:00:00Z"}`, `{"$numberLong":"1","x":1}`, `{"n":1.0,"big":123456789012345678901234567890,"e":1E400,"z":-0}`, `{"":"","a":{"":null}}`, `{"__proto__":{"x":1},"constructor":1}`, `{"<script>":"\u2028","x":"\u001b[2J\n"}`, `{"a":[{"$ref":"x","$id":1}],"_id":1,"id":"x"}`,
	} {
		r.cases++
		made := w.must(w.t, 201, "POST", tenant.path(tenant.sgPath(tenant.project, "")), tenant.adminToken, fmt.Sprintf(`{"project_id":%q,"name":"data %d","metadata":%s}`, tenant.project, i, data), "X-Account-ID: "+tenant.account)
		id := w.wanted(made, "security_group", "id")
		a := r.decided("metadata "+data, request("GET", tenant.path(tenant.sgPath(tenant.project, "/"+id)), "", bearer(tenant.adminToken)))
		var got struct {
			Group struct{ Metadata json.RawMessage } `json:"security_group"`
		}
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || unescaped(string(got.Group.Metadata)) != unescaped(data) {
			r.fault("metadata %s came back as %s", data, got.Group.Metadata)
		}
	}
}

// unescaped is JSON without the escapes that mean the same.
func unescaped(text string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\n`, `\u000a`, `\u2028`, "\u2028").Replace(text)
}
