package firewall_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// TestNewGroupIsShownWhole: every field of the specification, the rules in their
// order and canonical form, the metadata as it was sent; what was not sent is left out.
func TestNewGroupIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.Expect(w.call("security_group.create", `{"project_id":"proj-a-v1","name":" web ","description":"d",`+
		`"metadata":{"z":1.50,"a":1e400,"n":9007199254740993,"$ne":{"$oid":"x"},"h":"<&>\u2028","e":null},`+
		`"rules":[{"direction":"ingress","protocol":"6","port_range_min":80,"port_range_max":81,"remote_ip_prefix":"10.0.0.1","priority":0,"description":"r"},`+
		`{"direction":"egress","protocol":"icmp","icmp_type":0,"icmp_code":0}]}`), 201,
		`"metadata":{"z":1.50,"a":1e400,"n":9007199254740993,"$ne":{"$oid":"x"},"h":"<&>\u2028","e":null}`)
	g := got.Body["security_group"].(map[string]any)
	if message, _ := got.Body["message"].(string); message == "" || len(got.Body) != 2 {
		t.Errorf("%s", got.Text)
	}
	rules := g["rules"].([]any)
	first, second := rules[0].(map[string]any), rules[1].(map[string]any)
	for title, c := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"the group":  {g, "account_id created_at description id is_deleted metadata name project_id rules status updated_at"},
		"the first":  {first, "created_at description direction id is_deleted port_range_max port_range_min priority protocol remote_ip_prefix security_group_id updated_at"},
		"the second": {second, "created_at direction icmp_code icmp_type id is_deleted priority protocol security_group_id updated_at"},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(c.fields)), " "); got != c.want {
			t.Errorf("%s has %s, want %s", title, got, c.want)
		}
	}
	place := "2026-09-21T14:13:20.000Z"
	for title, c := range map[string][2]any{
		"account": {g["account_id"], acctA}, "project": {g["project_id"], projA}, "name": {g["name"], "web"}, "status": {g["status"], "active"},
		"deleted": {g["is_deleted"], false}, "created": {g["created_at"], place}, "updated": {g["updated_at"], place},
		"protocol": {first["protocol"], "tcp"}, "prefix": {first["remote_ip_prefix"], "10.0.0.1/32"}, "parent": {first["security_group_id"], g["id"]},
		"priority": {fmt.Sprint(first["priority"]), "0"}, "default": {fmt.Sprint(second["priority"]), "100"}, "rule time": {second["created_at"], place},
		"port": {fmt.Sprint(first["port_range_max"]), "81"}, "code": {fmt.Sprint(second["icmp_code"]), "0"}, "rule deleted": {first["is_deleted"], false},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", title, c[0], c[1])
		}
	}
	for id, prefix := range map[any]string{g["id"]: "sg-", first["id"]: "sgr-", second["id"]: "sgr-"} {
		if text := id.(string); !strings.HasPrefix(text, prefix) || !strings.HasSuffix(text, "-v1") || len(text) != len(prefix)+26+3 || strings.ToLower(text) != text {
			t.Errorf("id %v", id)
		}
	}
	if read := w.Expect(w.call("security_group.get", nil, g["id"].(string)), 200); !strings.Contains(read.Text, got.Text[:strings.Index(got.Text, `,"message"`)]) {
		t.Errorf("read:\n%s\nmade:\n%s", read.Text, got.Text)
	}
	bare := w.Expect(w.call("security_group.create", w.draft("bare")), 201, `"rules":[]`)
	if got := strings.Join(slices.Sorted(maps.Keys(bare.Body["security_group"].(map[string]any))), " "); got != "account_id created_at id is_deleted name project_id rules status updated_at" {
		t.Errorf("a bare group has %s", got)
	}
}

// TestGroupThatCannotBe: 400 with all problems at their fields, on both sides of
// each edge.
func TestGroupThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := func(n int) string { return strings.Repeat("é", n) }
	free := func(bytes int) string { return `{"a":"` + strings.Repeat("x", bytes-8) + `"}` }
	n := 0
	for name, c := range map[string]struct {
		fields string
		wrong  string
	}{
		"name of 255":               {`"name":"` + text(255) + `"`, ""},
		"name of 256":               {`"name":"` + text(256) + `"`, "name"},
		"name of one":               {`"name":"x"`, ""},
		"no name":                   {``, "name"},
		"null name":                 {`"name":null`, "name"},
		"empty name":                {`"name":""`, "name"},
		"blank name":                {`"name":" \t "`, "name"},
		"a line break in the name":  {`"name":"a\nb"`, "name"},
		"a direction mark in it":    {`"name":"a\u202eb"`, "name"},
		"name a number":             {`"name":1`, "name"},
		"description of 255":        {`"name":"d1","description":"` + text(255) + `"`, ""},
		"description of 256":        {`"name":"d2","description":"` + text(256) + `"`, "description"},
		"a tab in the description":  {`"name":"d4","description":"a\tb"`, "description"},
		"a C1 control in it":        {`"name":"d5","description":"a\u0080"`, "description"},
		"a C1 control in the name":  {`"name":"a\u009fb"`, "name"},
		"a DEL in the name":         {`"name":"a\u007fb"`, "name"},
		"description empty":         {`"name":"d3","description":""`, ""},
		"metadata of 16 KiB":        {`"name":"m1","metadata":` + free(16<<10), ""},
		"metadata of 1 byte more":   {`"name":"m2","metadata":` + free(16<<10+1), "metadata"},
		"metadata a list":           {`"name":"m3","metadata":[]`, "metadata"},
		"metadata null":             {`"name":"m4","metadata":null`, ""},
		"metadata empty":            {`"name":"m5","metadata":{}`, ""},
		"rules null":                {`"name":"r1","rules":null`, ""},
		"rules empty":               {`"name":"r2","rules":[]`, ""},
		"rules an object":           {`"name":"r3","rules":{}`, "rules"},
		"a rule that is no object":  {`"name":"r4","rules":[1]`, "rules[0] rules[0].direction rules[0].protocol"},
		"a status":                  {`"name":"s1","status":"active"`, "status"},
		"a name in other letters":   {`"name":"s2","Name":"x"`, "Name"},
		"all problems of all rules": {`"name":"","colour":1,"rules":[{"direction":"ingress","protocol":"tcp"},{"direction":"x","protocol":"6","port_range_min":2,"port_range_max":1},{"direction":"egress","protocol":"x","remote_security_group_id":"sg-none-v1","id":1}]`, "colour name rules[1].direction rules[1].port_range_min rules[2].id rules[2].protocol rules[2].remote_security_group_id"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.subTest(t)
			body := `{"project_id":"proj-a-v1"`
			if c.fields != "" {
				body += "," + c.fields
			}
			got := w.call("security_group.create", body+"}")
			if c.wrong == "" {
				n++
				w.Expect(got, 201)
				return
			}
			w.refused(got, strings.Fields(c.wrong)...)
		})
	}
	for name, body := range map[string]string{"no project": `{"name":"p"}`, "null": `{"name":"p","project_id":null}`, "empty": `{"name":"p","project_id":""}`, "another": `{"name":"p","project_id":"proj-x-v1"}`, "in other letters": `{"name":"p","project_id":"PROJ-a-v1"}`} {
		t.Run("project_id "+name, func(t *testing.T) { w.subTest(t).refused(w.call("security_group.create", body), "project_id") })
	}
	w.refused(w.call("security_group.create?dry_run=1", w.draft("q")), "dry_run")
	w.refused(w.call("security_group.create", `{"project_id":"proj-a-v1","name":"a","name":"b"}`), "request")
	w.refused(w.call("security_group.create", ``), "request")
	if got := w.Expect(w.call("security_group.list?page_size=100", nil), 200); len(names(got)) != n {
		t.Errorf("%d groups are there, %d were made", len(names(got)), n)
	}
}

// TestNameIsUniqueInItsProject, among groups that are not deleted.
func TestNameIsUniqueInItsProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.made("web")
	for _, again := range []string{"web", " web "} {
		got := w.Expect(w.call("security_group.create", w.draft(again)), 409)
		if got.Body["code"] != "CONFLICT" {
			t.Errorf("%s", got.Text)
		}
	}
	w.made("Web")
	w.inProject(acctA, projX).made("web")
	w.inProject(acctB, projB).made("web")
	other, _ := w.made("other")
	w.Expect(w.call("security_group.update", areatest.Object{"name": "web"}, other), 409)
	w.Expect(w.call("security_group.update", areatest.Object{"name": "web"}, id), 200) // its own
	w.Expect(w.call("security_group.delete", nil, id), 200)
	w.Expect(w.call("security_group.update", areatest.Object{"name": "web"}, other), 200)
	w.Expect(w.call("security_group.delete", nil, other), 200)
	w.made("web")
}

// TestGroupIsChanged: what is sent, and nothing else.
func TestGroupIsChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.made("web", tcpRule(80))
	before := w.group(id)
	w.Clock.Add(1000)
	got := w.Expect(w.call("security_group.update", `{"description":"d","metadata":{"a":1.0}}`, id), 200, `"metadata":{"a":1.0}`)
	if message, _ := got.Body["message"].(string); message == "" || len(got.Body) != 2 {
		t.Errorf("%s", got.Text)
	}
	g := w.group(id)
	if g["name"] != "web" || g["description"] != "d" || g["created_at"] != before["created_at"] || g["updated_at"] == before["updated_at"] || len(g["rules"].([]any)) != 1 {
		t.Errorf("%v", g)
	}
	w.Expect(w.call("security_group.update", `{"name":" new ","description":null,"metadata":null}`, id), 200)
	if g = w.group(id); g["name"] != "new" || g["description"] != "d" || fmt.Sprint(g["metadata"]) != "map[a:1.0]" {
		t.Errorf("%v", g)
	}
	w.Expect(w.call("security_group.update", `{"description":"","metadata":{}}`, id), 200, `"metadata":{}`)
	if g = w.group(id); g["name"] != "new" || g["description"] != nil {
		t.Errorf("%v", g)
	}
	for body, wrong := range map[string]string{
		`{}`: "request", ``: "request", `{"name":null}`: "request", `[]`: "request", `{"name":""}`: "name", `{"name":1}`: "name", `{"name":"` + strings.Repeat("x", 256) + `"}`: "name",
		`{"rules":[]}`: "rules", `{"name":"x","status":"error"}`: "status", `{"is_deleted":true}`: "is_deleted", `{"project_id":"proj-x-v1"}`: "project_id",
		`{"description":"` + strings.Repeat("x", 256) + `","metadata":1}`: "description metadata",
		`{"name":"a\u0001b","description":"a\u001fb"}`:                    "description name",
	} {
		w.refused(w.call("security_group.update", body, id), strings.Fields(wrong)...)
	}
	w.refused(w.call("security_group.update?x=1", `{"name":"x"}`, id), "x")
	if after := w.group(id); fmt.Sprint(after) != fmt.Sprint(g) {
		t.Errorf("a refused change left %v", after)
	}
}

// TestDeletedGroupIsGone: a repeat, a read and every change are 404; the list of
// the deleted ones alone still has it, marked with its rules.
func TestDeletedGroupIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, rules := w.made("web", tcpRule(80))
	w.made("stays")
	w.Clock.Add(1000)
	w.refused(w.call("security_group.delete?force=1", nil, id), "force")
	w.refused(w.call("security_group.delete", `{"force":true}`, id), "force")
	got := w.Expect(w.call("security_group.delete", nil, id), 200)
	if message, _ := got.Body["message"].(string); message == "" || len(got.Body) != 1 {
		t.Errorf("%s", got.Text)
	}
	absent := w.Expect(w.call("security_group.get", nil, "sg-absent-v1"), 404, `"code":"NOT_FOUND"`).Text
	for name, got := range map[string]areatest.Answer{
		"get": w.call("security_group.get", nil, id), "again": w.call("security_group.delete", nil, id), "patch": w.call("security_group.update", areatest.Object{"name": "x"}, id),
		"add": w.call("security_group_rule.create", tcpRule(81), id), "remove": w.call("security_group_rule.delete", nil, id, rules[0]),
	} {
		if got.Status != 404 || got.Text != absent {
			t.Errorf("%s: %d %s", name, got.Status, got.Text)
		}
	}
	for query, want := range map[string]string{"": "stays", "?status=active": "stays", "?status=deleted": "web", "?status=deleting": "", "?status=error": "", "?status=pending": ""} {
		if got := w.Expect(w.call("security_group.list"+query, nil), 200); strings.Join(names(got), " ") != want || fmt.Sprint(got.Body["total_count"]) != fmt.Sprint(len(names(got))) {
			t.Errorf("security_group.list%s: %s", query, got.Text)
		}
	}
	g := w.call("security_group.list?status=deleted", nil).Body["security_groups"].([]any)[0].(map[string]any)
	r := g["rules"].([]any)[0].(map[string]any)
	if g["status"] != "deleted" || g["is_deleted"] != true || r["is_deleted"] != true || g["id"] != id || r["id"] != rules[0] ||
		g["updated_at"] == g["created_at"] || r["updated_at"] != g["updated_at"] {
		t.Errorf("%v", g)
	}
}
