package mcp_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestIDsOfAnotherUpstreamAreUnknown guarantees 404 for a session and a task of an upstream once the policy in force has
// moved the server to another one. The new upstream gets nothing: the same ids may be another caller's there.
func TestIDsOfAnotherUpstreamAreUnknown(t *testing.T) {
	t.Parallel()
	before, after := newTasker(t), newTasker(t)
	moved := strings.Replace(rows, `"github"`, `"moved"`, 1)
	policies := withOther(t, policiesWith(t, rows), moved)
	g := startOn(t, before.url, policies, "--upstream", "moved="+after.url)
	token := tokenFor(t, g, reader, bothScopes)
	before.set("tools/call", modernTask)
	_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
	task := idIn(t, text)
	resp, text := raw(t, g, path, token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	after.set("tools/call", `{"resultType":"complete","content":[{"type":"text","text":"moved"}]}`)
	after.set("tasks/get", `{"resultType":"complete","taskId":"t.1","status":"completed","result":{"content":[]}}`)
	harness.WriteFile(t, filepath.Join(policies, "mcp", "issues", "data.json"), moved)
	harness.Soon(t, "the server has moved", func() bool {
		_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
		return strings.Contains(text, "moved")
	})
	after.got()
	if resp, text := askTask(t, g, path, token, "tasks/get", task, ""); resp.StatusCode != 404 || len(after.got()) != 0 {
		t.Errorf("the task: %d %s", resp.StatusCode, text)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body := ""
		if method == http.MethodPost {
			body = legacyStart
		}
		if status := send(t, method, g.URL+path, token, body, session); status != 404 || len(after.got()) != 0 {
			t.Errorf("%s in the session: %d", method, status)
		}
	}
}
