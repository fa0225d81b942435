package api_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestEachAnswerOfSecurityGroups: one refusal of each kind on each route; resources/firewall has the tables.
func TestEachAnswerOfSecurityGroups(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	web, named := w.made(t, "web", onPort(1, "")), w.made(t, "named")
	w.must(t, 201, "POST", "/"+web+"/rules", onPort(2, namesGroup(named)))
	before := w.must(t, 200, "GET", "/"+web, "")
	rule, _ := harness.At(before.Body, "security_group", "rules", 0, "id").(string)
	codes := map[int]string{400: "BAD_REQUEST", 404: "NOT_FOUND", 409: "CONFLICT", 413: "PAYLOAD_TOO_LARGE"}
	for _, c := range []struct {
		status                    int
		method, rest, body, wrong string
	}{
		{400, "POST", "", w.draft("", `,"x":1,"metadata":1,"rules":[`+onPort(1, namesGroup("sg-absent-v1"))+`,`+onPort(70000, `,"priority":-1`)+`]`), "metadata name rules[0].remote_security_group_id rules[1].port_range_max rules[1].port_range_min rules[1].priority x"},
		{400, "POST", "?dry_run=true", w.draft("x", ""), "dry_run"},
		{409, "POST", "", w.draft("web", ""), ""},
		{409, "POST", "", w.draft("x", `,"rules":[`+onPort(1, "")+`,`+onPort(1, "")+`]`), "rules[1]"},
		{413, "POST", "", w.draft("x", `,"metadata":{"a":"`+strings.Repeat("x", 1<<20)+`"}`), ""},
		{400, "GET", "?page_size=0&status=x&page_token=x", "", "page_size page_token status"},
		{404, "GET", "/sg-absent-v1", "", ""},
		{400, "PATCH", "/" + web, `{}`, "request"},
		{404, "PATCH", "/sg-absent-v1", `{"name":"x"}`, ""},
		{409, "PATCH", "/" + web, `{"name":"named"}`, ""},
		{400, "DELETE", "/" + named, `{"force":true}`, "force"},
		{404, "DELETE", "/sg-absent-v1", "", ""},
		{409, "DELETE", "/" + named, "", ""},
		{400, "POST", "/" + web + "/rules", `{}`, "direction protocol"},
		{404, "POST", "/sg-absent-v1/rules", onPort(3, ""), ""},
		{409, "POST", "/" + web + "/rules", onPort(1, ""), ""},
		{404, "DELETE", "/" + named + "/rules/" + rule, "", ""},
	} {
		var wrong []string
		if c.wrong != "" {
			wrong = strings.Fields(c.wrong)
		}
		wantWallRefusal(t, c.method+c.rest, w.do(t, c.method, c.rest, c.body), c.status, codes[c.status], wrong...)
	}
	wantWallRefusal(t, "415", w.do(t, "POST", "", w.draft("x", ""), "Content-Type", "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE")
	if after := w.must(t, 200, "GET", "/"+web, ""); string(after.Raw) != string(before.Raw) {
		t.Errorf("%s after refusals, before them %s", after.Raw, before.Raw)
	}
	if got := groupsIn(w.must(t, 200, "GET", "", "")); len(strings.Fields(got)) != 2 {
		t.Errorf("there are %s", got)
	}
}

// TestProjectWithSecurityGroupsStays: 409 as long as one is in it; an empty one
// takes no more groups once it is deleted.
func TestProjectWithSecurityGroupsStays(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	w = w.elsewhere(newProject(t, w.Scene, "short"))
	id := w.made(t, "web")
	harness.WantRefusal(t, w.Do(t, "DELETE", "/projects/"+w.Project, ""), 409, "CONFLICT")
	more := w.made(t, "still open")
	for _, g := range []string{id, more} {
		w.must(t, 200, "DELETE", "/"+g, "")
	}
	w.Must(t, 200, "DELETE", "/projects/"+w.Project, "")
	wantWallRefusal(t, "after", w.do(t, "POST", "", w.draft("x", "")), 403, "FORBIDDEN")
}
