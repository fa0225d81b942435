package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSecurityGroupLives: made with everything that the specification describes, read as it was made, changed, listed page
// by page, and deleted.
func TestSecurityGroupLives(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	metadata := `{"b":1.50,"a":[12345678901234567890,1e2],"$ne":{"$oid":"x"},"t":"<&> \u2028","z":null}`
	r := w.must(t, 201, "POST", "", w.draft("web", `,"description":"d","metadata":`+metadata+`,"rules":[`+
		onPort(443, `,"remote_ip_prefix":"0.0.0.0/0","description":"https"`)+`,`+
		`{"direction":"egress","protocol":"1","icmp_type":8,"icmp_code":0,"priority":7}]`), "x-user-id", w.Admin, "X-Request-ID", "make-1")
	if r.Header.Get("X-Request-ID") != "make-1" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", r.Header)
	}
	harness.WantFields(t, "the answer", r.Body, "security_group", "message")
	harness.WantTimes(t, r.Body["security_group"], "created_at", "updated_at")
	one := "/" + fmt.Sprint(harness.At(r.Body, "security_group", "id"))
	read := w.must(t, 200, "GET", one, "")
	for name, raw := range map[string][]byte{"security_group.create": r.Raw, "security_group.get": read.Raw} {
		if !strings.Contains(string(raw), `"metadata":`+metadata) {
			t.Errorf("%s: the metadata is not as it was sent: %s", name, raw)
		}
	}
	if fmt.Sprint(read.Body["security_group"]) != fmt.Sprint(r.Body["security_group"]) {
		t.Errorf("read %s, made %s", read.Raw, r.Raw)
	}
	r = w.must(t, 200, "PATCH", one, `{"name":" www ","description":"","metadata":{"n":1.0}}`)
	if g := r.Body["security_group"]; harness.At(g, "name") != "www" || harness.At(g, "description") != nil || !strings.Contains(string(r.Raw), `"metadata":{"n":1.0}`) {
		t.Errorf("%s", r.Raw)
	}
	r = w.must(t, 201, "POST", one+"/rules", `{"direction":"ingress","protocol":"132","port_range_min":1,"port_range_max":1,"remote_security_group_id":"`+one[1:]+`"}`)
	harness.WantMessage(t, "deleting a rule", w.do(t, "DELETE", one+"/rules/"+fmt.Sprint(harness.At(r.Body, "security_group_rule", "id")), ""))
	w.made(t, "bare")
	first := w.must(t, 200, "GET", "?page_size=1", "")
	second := w.must(t, 200, "GET", "?page_size=1&page_token="+fmt.Sprint(first.Body["next_page_token"]), "")
	if got := groupsIn(first) + " " + groupsIn(second); got != "bare www" && got != "www bare" || second.Body["next_page_token"] != "" { // of one millisecond in any order
		t.Errorf("listed as %s, then %s", first.Raw, second.Raw)
	}
	harness.WantMessage(t, "deleting", w.do(t, "DELETE", one, ""))
	wantWallRefusal(t, "again", w.do(t, "DELETE", one, ""), 404, "NOT_FOUND")
	if got := groupsIn(w.must(t, 200, "GET", "?status=deleted", "")); got != "www" {
		t.Errorf("%s are listed as deleted", got)
	}
}
