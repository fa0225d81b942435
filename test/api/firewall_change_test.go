package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSecurityGroupIsChanged: what is sent and nothing else; wrong bodies 400,
// a name in use 409.
func TestSecurityGroupIsChanged(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	id := w.made(t, "web", onPort(1, ""))
	w.made(t, "taken")
	r := w.must(t, 200, "PATCH", "/"+id, `{"name":" www ","description":"d","metadata":{"n":1.0}}`)
	harness.WantFields(t, "the answer", r.Body, "security_group", "message")
	if g := r.Body["security_group"]; harness.At(g, "name") != "www" || harness.At(g, "description") != "d" || len(harness.At(g, "rules").([]any)) != 1 || !strings.Contains(string(r.Raw), `"metadata":{"n":1.0}`) {
		t.Errorf("%s", r.Raw)
	}
	r = w.must(t, 200, "PATCH", "/"+id, `{"description":""}`)
	if g := r.Body["security_group"]; harness.At(g, "name") != "www" || harness.At(g, "description") != nil || harness.At(g, "metadata") == nil {
		t.Errorf("%s", r.Raw)
	}
	for body, wrong := range map[string]string{
		``: "request", `{}`: "request", `{"name":null}`: "request", `{"name":""}`: "name", `{"name":"x","rules":[]}`: "rules", `{"status":"error","is_deleted":true}`: "is_deleted status",
		`{"description":"` + strings.Repeat("x", 256) + `","metadata":[]}`: "description metadata",
	} {
		wantWallRefusal(t, body, w.do(t, "PATCH", "/"+id, body), 400, "BAD_REQUEST", strings.Fields(wrong)...)
	}
	wantWallRefusal(t, "a name in use", w.do(t, "PATCH", "/"+id, `{"name":"taken"}`), 409, "CONFLICT")
	if after := w.must(t, 200, "GET", "/"+id, ""); fmt.Sprint(after.Body["security_group"]) != fmt.Sprint(r.Body["security_group"]) {
		t.Errorf("%s after refusals, before them %s", after.Raw, r.Raw)
	}
}

// TestSecurityGroupIsDeleted: it is not found again, a repeat included, its
// name is free; one that another group's rule names stays (409).
func TestSecurityGroupIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	target := w.made(t, "target", onPort(1, ""))
	w.must(t, 201, "POST", "/"+target+"/rules", onPort(2, namesGroup(target))) // naming itself keeps nothing
	other := w.made(t, "other", onPort(1, namesGroup(target)), onPort(2, namesGroup(target)))
	rules := harness.Texts(harness.At(w.must(t, 200, "GET", "/"+other, "").Body, "security_group", "rules"), "id")
	for _, rule := range rules {
		wantWallRefusal(t, "a group that is named", w.do(t, "DELETE", "/"+target, ""), 409, "CONFLICT")
		harness.WantMessage(t, "deleting a rule", w.do(t, "DELETE", "/"+other+"/rules/"+rule, ""))
	}
	wantWallRefusal(t, "a body", w.do(t, "DELETE", "/"+target, `{"force":true}`), 400, "BAD_REQUEST", "force")
	harness.WantMessage(t, "deleting", w.do(t, "DELETE", "/"+target, ""))
	for name, r := range map[string]harness.Reply{
		"again": w.do(t, "DELETE", "/"+target, ""), "read": w.do(t, "GET", "/"+target, ""), "changed": w.do(t, "PATCH", "/"+target, `{"name":"x"}`),
		"added to": w.do(t, "POST", "/"+target+"/rules", onPort(9, "")),
	} {
		wantWallRefusal(t, name, r, 404, "NOT_FOUND")
	}
	wantWallRefusal(t, "named by a rule", w.do(t, "POST", "/"+other+"/rules", onPort(9, namesGroup(target))), 400, "BAD_REQUEST", "remote_security_group_id")
	if again := w.made(t, "target"); again == target {
		t.Error("an id was given twice")
	}
}

// TestSecurityGroupsOfOthersAreNotThere: below one's own project, the ids of another
// project's or account's group and rule are answered like absent ones, and stay.
func TestSecurityGroupsOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	w, foreign := newWall(t), newWall(t)
	other := w.elsewhere(newProject(t, w.Scene, "another"))
	id := w.made(t, "web", onPort(1, ""))
	rule, _ := harness.At(w.must(t, 200, "GET", "/"+id, "").Body, "security_group", "rules", 0, "id").(string)
	before := w.must(t, 200, "GET", "/"+id, "")
	for _, by := range []*wall{other, foreign} {
		own := by.made(t, "own", onPort(1, ""))
		for way, body := range map[string]string{
			"GET /ID": "", "PATCH /ID": `{"name":"x"}`, "DELETE /ID": "", "POST /ID/rules": onPort(2, ""), "DELETE /ID/rules/RULE": "", "DELETE /" + own + "/rules/RULE": "",
		} {
			method, rest, _ := strings.Cut(way, " ")
			ask := func(id, rule string) harness.Reply {
				return by.do(t, method, strings.NewReplacer("ID", id, "RULE", rule).Replace(rest), body)
			}
			theirs, absent := ask(id, rule), ask("sg-absent-v1", "sgr-absent-v1")
			wantWallRefusal(t, way, theirs, 404, "NOT_FOUND")
			if string(theirs.Raw) != string(absent.Raw) {
				t.Errorf("%s: %s, absent %s", way, theirs.Raw, absent.Raw)
			}
		}
		// As a value in a body: 400, with the same words too.
		for _, rest := range []string{"", "/" + own + "/rules"} {
			ask := func(id string) harness.Reply {
				if rest == "" {
					return by.do(t, "POST", rest, by.draft("x", `,"rules":[`+onPort(3, namesGroup(id))+`]`))
				}
				return by.do(t, "POST", rest, onPort(3, namesGroup(id)))
			}
			theirs, absent := ask(id), ask("sg-absent-v1")
			wantWallRefusal(t, rest, theirs, 400, "BAD_REQUEST")
			if string(theirs.Raw) != string(absent.Raw) {
				t.Errorf("%s: %s, absent %s", rest, theirs.Raw, absent.Raw)
			}
		}
		if got := groupsIn(by.must(t, 200, "GET", "", "")); got != "own" {
			t.Errorf("the list has %s", got)
		}
	}
	if after := w.must(t, 200, "GET", "/"+id, ""); string(after.Raw) != string(before.Raw) {
		t.Errorf("%s became %s", before.Raw, after.Raw)
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
