package mcp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestALongListCostsNoMoreThanTheRows guarantees that a list takes no more of the caller's rate than the policy has rows. The
// server may list any number of other names, and of resources for one row.
func TestALongListCostsNoMoreThanTheRows(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows), "--rate-principal", "20/h")
	token := tokenFor(t, g, reader, bothScopes)
	tools, files := []string{`{"name":"search_issues"}`}, []string{}
	for i := range 2000 {
		tools, files = append(tools, fmt.Sprintf(`{"name":"t%d"}`, i)), append(files, fmt.Sprintf(`{"uri":"repo://acme/site/%d"}`, i))
	}
	s.set("tools/list", `{"resultType":"complete","tools":[`+strings.Join(tools, ",")+`]}`)
	s.set("resources/list", `{"resultType":"complete","resources":[`+strings.Join(append(files, `{"uri":"file:///etc/passwd"}`), ",")+`]}`)
	for method, want := range map[string]int{"tools/list": 1, "resources/list": 2000} {
		resp, text := raw(t, g, path, token, request(method, ""), modern(method, "")...)
		if got := strings.Count(text, `{"name":`) + strings.Count(text, `{"uri":`); resp.StatusCode != 200 || got != want || strings.Contains(text, "passwd") {
			t.Errorf("%s: %d, %d of them, want %d: %.300s", method, resp.StatusCode, got, want, text)
		}
	}
	if resp, text := raw(t, g, path, token, request("tools/list", ""), modern("tools/list", "")...); resp.StatusCode != 200 {
		t.Errorf("the next one: %d %s", resp.StatusCode, text)
	}
}
