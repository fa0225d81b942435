package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// Ids of groups and rules: 26 characters of a ULID.
var (
	groupID = regexp.MustCompile(`^sg-[0-9a-hjkmnp-tv-z]{26}-v1$`)
	ruleID  = regexp.MustCompile(`^sgr-[0-9a-hjkmnp-tv-z]{26}-v1$`)
)

// TestSecurityGroupIsCreated: 201 with the group, as the specification describes
// it, and a message.
func TestSecurityGroupIsCreated(t *testing.T) {
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
	g := r.Body["security_group"]
	harness.WantFields(t, "the group", g, "id", "account_id", "project_id", "name", "description", "status", "metadata", "rules", "created_at", "updated_at", "is_deleted")
	harness.WantTimes(t, g, "created_at", "updated_at")
	harness.WantFields(t, "a rule with ports", harness.At(g, "rules", 0), "id", "security_group_id", "direction", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "priority", "description", "created_at", "updated_at", "is_deleted")
	harness.WantFields(t, "a rule of icmp", harness.At(g, "rules", 1), "id", "security_group_id", "direction", "protocol", "icmp_type", "icmp_code", "priority", "created_at", "updated_at", "is_deleted")
	harness.WantTimes(t, harness.At(g, "rules", 0), "created_at", "updated_at")
	for what, c := range map[string][2]any{
		"account": {harness.At(g, "account_id"), w.Account}, "project": {harness.At(g, "project_id"), w.Project}, "name": {harness.At(g, "name"), "web"}, "description": {harness.At(g, "description"), "d"},
		"status": {harness.At(g, "status"), "active"}, "deleted": {harness.At(g, "is_deleted"), false}, "rule's group": {harness.At(g, "rules", 0, "security_group_id"), harness.At(g, "id")},
		"direction": {harness.At(g, "rules", 1, "direction"), "egress"}, "protocol": {harness.At(g, "rules", 1, "protocol"), "icmp"}, "type": {fmt.Sprint(harness.At(g, "rules", 1, "icmp_type")), "8"},
		"code": {fmt.Sprint(harness.At(g, "rules", 1, "icmp_code")), "0"}, "priority": {fmt.Sprint(harness.At(g, "rules", 1, "priority")), "7"}, "default priority": {fmt.Sprint(harness.At(g, "rules", 0, "priority")), "100"},
		"rule deleted": {harness.At(g, "rules", 0, "is_deleted"), false}, "prefix": {harness.At(g, "rules", 0, "remote_ip_prefix"), "0.0.0.0/0"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	id, _ := harness.At(g, "id").(string)
	if first, _ := harness.At(g, "rules", 0, "id").(string); !groupID.MatchString(id) || !ruleID.MatchString(first) {
		t.Errorf("ids %s, %s", id, first)
	}
	read := w.must(t, 200, "GET", "/"+id, "")
	for what, raw := range map[string][]byte{"security_group.create": r.Raw, "security_group.get": read.Raw} {
		if !strings.Contains(string(raw), `"metadata":`+metadata) {
			t.Errorf("%s: the metadata is not as it was sent: %s", what, raw)
		}
	}
	if fmt.Sprint(read.Body["security_group"]) != fmt.Sprint(g) {
		t.Errorf("read %s, made %s", read.Raw, r.Raw)
	}
	bare := w.must(t, 201, "POST", "", w.draft(" bare ", ""))
	harness.WantFields(t, "a bare group", bare.Body["security_group"], "id", "account_id", "project_id", "name", "status", "rules", "created_at", "updated_at", "is_deleted")
	if rules, ok := harness.At(bare.Body, "security_group", "rules").([]any); !ok || len(rules) != 0 || harness.At(bare.Body, "security_group", "name") != "bare" {
		t.Errorf("%s", bare.Raw)
	}
}

// TestSecurityGroupThatCannotBe is refused: 400 with every problem at its field,
// 409 for a name in use, for equal rules and past the quotas; nothing is made.
func TestSecurityGroupThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	w.made(t, "taken")
	long, bytes := strings.Repeat("é", 256), strings.Repeat("x", 16<<10-7)
	for name, c := range map[string]struct{ body, wrong string }{
		"no body":                     {``, "request"},
		"no object":                   {`[]`, "request"},
		"not JSON":                    {`{"name":`, "request"},
		"a name twice":                {`{"project_id":"x","name":"a","name":"b"}`, "request"},
		"nothing":                     {`{}`, "name project_id"},
		"no name":                     {w.draft("", ""), "name"},
		"name too long":               {w.draft(long, ""), "name"},
		"another project":             {`{"project_id":"proj-other-v1","name":"x"}`, "project_id"},
		"a description too long":      {w.draft("x", `,"description":"`+long+`"`), "description"},
		"metadata too large":          {w.draft("x", `,"metadata":{"a":"`+bytes+`"}`), "metadata"},
		"metadata no object":          {w.draft("x", `,"metadata":"a"`), "metadata"},
		"an unknown field":            {w.draft("x", `,"status":"active"`), "status"},
		"rules no list":               {w.draft("x", `,"rules":{}`), "rules"},
		"rules without what is asked": {w.draft("x", `,"rules":[{},{"direction":"ingress","protocol":"tcp"},{"direction":"in","protocol":"x"}]`), "rules[0].direction rules[0].protocol rules[2].direction rules[2].protocol"},
		"a group that is not there":   {w.draft("x", `,"rules":[`+onPort(1, namesGroup("sg-absent-v1"))+`]`), "rules[0].remote_security_group_id"},
		"all of it at once":           {w.draft("", `,"x":1,"metadata":1,"rules":[`+onPort(1, namesGroup("sg-absent-v1"))+`,`+onPort(70000, `,"priority":-1`)+`]`), "metadata name rules[0].remote_security_group_id rules[1].port_range_max rules[1].port_range_min rules[1].priority x"},
	} {
		wantWallRefusal(t, name, w.do(t, "POST", "", c.body), 400, "BAD_REQUEST", strings.Fields(c.wrong)...)
	}
	wantWallRefusal(t, "a query", w.do(t, "POST", "?dry_run=true", w.draft("x", "")), 400, "BAD_REQUEST", "dry_run")
	wantWallRefusal(t, "409 name in use", w.do(t, "POST", "", w.draft("taken", "")), 409, "CONFLICT")
	wantWallRefusal(t, "409 equal rules", w.do(t, "POST", "", w.draft("x", `,"rules":[{"direction":"ingress","protocol":"tcp"},{"direction":"ingress","protocol":"6","description":"again"}]`)), 409, "CONFLICT", "rules[1]")
	wantWallRefusal(t, "413", w.do(t, "POST", "", w.draft("x", `,"metadata":{"a":"`+strings.Repeat("x", 1<<20)+`"}`)), 413, "PAYLOAD_TOO_LARGE")
	wantWallRefusal(t, "415", w.do(t, "POST", "", w.draft("x", ""), "Content-Type", "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE")
	if got := groupsIn(w.must(t, 200, "GET", "", "")); got != "taken" {
		t.Errorf("there are %s", got)
	}
	w.made(t, strings.Repeat("é", 255)) // the other side of the edge
	w.must(t, 201, "POST", "", w.draft("fits", `,"metadata":{"a":"`+bytes[:16<<10-8]+`"}`))
}

// TestQuotasOfSecurityGroups: 100 groups a project and 200 rules a group, past them 409.
func TestQuotasOfSecurityGroups(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	rules := make([]string, 201)
	for i := range rules {
		rules[i] = onPort(i, "")
	}
	wantWallRefusal(t, "201 rules", w.do(t, "POST", "", w.draft("x", `,"rules":[`+strings.Join(rules, ",")+`]`)), 409, "CONFLICT")
	full := w.made(t, "full", rules[:200]...)
	wantWallRefusal(t, "one more rule", w.do(t, "POST", "/"+full+"/rules", rules[200]), 409, "CONFLICT")
	for i := range 99 {
		w.made(t, fmt.Sprint("g", i))
	}
	wantWallRefusal(t, "group 101", w.do(t, "POST", "", w.draft("x", "")), 409, "CONFLICT")
	other := w.elsewhere(newProject(t, w.Scene, "another"))
	other.made(t, "x") // each project has its own
	w.must(t, 200, "DELETE", "/"+full, "")
	w.made(t, "x")
}
