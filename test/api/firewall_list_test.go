package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSecurityGroupsAreListed: newest first, page by page, each once; deleted ones
// only where they are asked for.
func TestSecurityGroupsAreListed(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	r := w.must(t, 200, "GET", "", "")
	harness.WantFields(t, "an empty list", r.Body, "security_groups", "next_page_token", "total_count", "message")
	if list, ok := r.Body["security_groups"].([]any); !ok || len(list) != 0 || r.Body["next_page_token"] != "" || fmt.Sprint(r.Body["total_count"]) != "0" || r.Body["message"] == "" {
		t.Errorf("%s", r.Raw)
	}
	var want []string // by time, and by id where two were made in one millisecond
	ids := map[string]string{}
	for i := range 5 {
		g := w.must(t, 201, "POST", "", w.draft(fmt.Sprint("g", i), `,"rules":[`+onPort(i, "")+`]`)).Body["security_group"]
		name, _ := harness.At(g, "name").(string)
		ids[name], _ = harness.At(g, "id").(string)
		want = append(want, fmt.Sprint(harness.At(g, "created_at"), " ", ids[name], " ", name))
	}
	slices.Sort(want)
	slices.Reverse(want)
	for i, key := range want {
		want[i] = strings.Fields(key)[2]
	}
	kept := strings.Join(slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name == "g1" || name == "g3" }), " ")
	gone := strings.Join(slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name != "g1" && name != "g3" }), " ")
	pages := func(query, count string) (got []string) {
		t.Helper()
		for token := ""; ; {
			r := w.must(t, 200, "GET", "?"+query+"page_token="+token, "")
			if fmt.Sprint(r.Body["total_count"]) != count {
				t.Errorf("%s: %s", query, r.Raw)
			}
			got = append(got, harness.Texts(r.Body["security_groups"], "name")...)
			if token, _ = r.Body["next_page_token"].(string); token == "" {
				return got
			}
		}
	}
	for _, query := range []string{"page_size=1&", "page_size=2&", "page_size=5&", "page_size=100&", "", "status=active&page_size=2&"} {
		if got := pages(query, "5"); !slices.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
	first := w.must(t, 200, "GET", "?page_size=1", "")
	if g := harness.At(first.Body, "security_groups", 0); harness.At(g, "id") != ids[want[0]] || harness.At(g, "rules", 0, "protocol") != "tcp" || harness.At(g, "status") != "active" {
		t.Errorf("%s", first.Raw)
	}
	w.must(t, 200, "DELETE", "/"+ids["g1"], "")
	w.must(t, 200, "DELETE", "/"+ids["g3"], "")
	for query, c := range map[string]struct{ names, count string }{
		"": {kept, "3"}, "status=active&": {kept, "3"}, "status=deleted&page_size=1&": {gone, "2"},
		"status=pending&": {"", "0"}, "status=error&": {"", "0"}, "status=deleting&": {"", "0"},
	} {
		if got := strings.Join(pages(query, c.count), " "); got != c.names {
			t.Errorf("%s: %s, want %s", query, got, c.names)
		}
	}
	deleted := harness.At(w.must(t, 200, "GET", "?status=deleted", "").Body, "security_groups", 0)
	if harness.At(deleted, "is_deleted") != true || harness.At(deleted, "status") != "deleted" || harness.At(deleted, "rules", 0, "is_deleted") != true {
		t.Errorf("%v", deleted)
	}
}

// TestListOfSecurityGroupsRefuses what it does not know, and tokens that are not its own.
func TestListOfSecurityGroupsRefuses(t *testing.T) {
	t.Parallel()
	w, foreign := newWall(t), newWall(t)
	other := w.elsewhere(newProject(t, w.Scene, "another"))
	for _, at := range []*wall{w, foreign, other} {
		at.made(t, "a")
		at.made(t, "b")
	}
	token := func(of *wall, query string) string {
		t.Helper()
		got, _ := of.must(t, 200, "GET", "?page_size=1"+query, "").Body["next_page_token"].(string)
		if got == "" {
			t.Fatal("no token")
		}
		return got
	}
	own := token(w, "")
	for query, wrong := range map[string]string{
		"page_size=0": "page_size", "page_size=101": "page_size", "page_size=1.5": "page_size", "page_size=": "page_size", "page_size=+1": "page_size", "page_size=1&page_size=1": "page_size",
		"status=ACTIVE": "status", "status=": "status", "status=x": "status", "status[$ne]=active": "status[$ne]", "page=1": "page", "pageSize=1": "pageSize",
		"page_size=0&status=x&page_token=x": "page_size page_token status",
		"page_token=x":                      "page_token", "page_token=" + own[:len(own)-4]: "page_token", "page_token=" + own + "AAAA": "page_token", "page_token=" + strings.ToLower(own): "page_token",
		"page_token=" + token(w, "&status=active"): "page_token", "status=active&page_token=" + own: "page_token", "status=deleted&page_token=" + own: "page_token",
		"page_token=" + token(other, ""): "page_token", "page_token=" + token(foreign, ""): "page_token",
	} {
		wantWallRefusal(t, query, w.do(t, "GET", "?"+query, ""), 400, "BAD_REQUEST", strings.Fields(wrong)...)
	}
	if r := w.must(t, 200, "GET", "?page_token="+own, ""); len(harness.Texts(r.Body["security_groups"], "name")) != 1 || fmt.Sprint(r.Body["total_count"]) != "2" {
		t.Errorf("%s", r.Raw)
	}
}
