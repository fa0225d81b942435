package mcp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

const (
	readme = "repo://acme/site/readme"
	update = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + readme + `"}}`
)

// TestAStreamNeedsTheScopesOfWhatItShows guarantees 403 with the scope for a subscription to a resource, and for a stream to
// resume, by a token without it. The server gets neither.
func TestAStreamNeedsTheScopesOfWhatItShows(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	s.set("tools/call", modernTask)
	_, text := raw(t, g, path, tokenFor(t, g, reader, bothScopes), call("search_issues"), modern("tools/call", "search_issues")...)
	task := idIn(t, text)
	s.set("subscriptions/listen", update+"\n"+update)
	s.got()
	for name, filter := range map[string]string{"a resource": `"resourceSubscriptions":["` + readme + `"]`, "a task": `"taskIds":["` + task + `"]`} {
		for scopes, want := range map[string]int{"mcp:write": 403, "": 403, "mcp:read": 200} {
			resp, text := raw(t, g, path, tokenFor(t, g, reader, scopes), request("subscriptions/listen", `"notifications":{`+filter+`}`), modern("subscriptions/listen", "")...)
			if got := s.got(); resp.StatusCode != want || (len(got) == 1) != (want == 200) || (want == 403) != strings.Contains(resp.Header.Get("WWW-Authenticate"), `scope="mcp:read"`) {
				t.Errorf("%s with %q: %d %s %v, the server got %d", name, scopes, resp.StatusCode, text, resp.Header, len(got))
			}
		}
	}
}

// TestAResumedStreamNeedsTheScopeOfItsCall guarantees 403 for a stream that another token of the same client resumes.
func TestAResumedStreamNeedsTheScopeOfItsCall(t *testing.T) {
	t.Parallel()
	url, resumed := newPoller(t)
	g := startOn(t, url, policiesWith(t, rows))
	token := tokenFor(t, g, reader, bothScopes)
	resp, _ := raw(t, g, path, token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	_, text := raw(t, g, path, token, legacyCall, "Mcp-Session-Id", session)
	match := eventID.FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("%q", text)
	}
	for _, scopes := range []string{"mcp:write", ""} {
		if resp := get(t, g, path, tokenFor(t, g, reader, scopes), session, match[1]); resp.StatusCode != 403 || len(resumed()) != 0 {
			t.Errorf("%q: %d, the server got %q", scopes, resp.StatusCode, resumed())
		}
	}
	if resp := get(t, g, path, tokenFor(t, g, reader, "mcp:read"), session, match[1]); resp.StatusCode != 200 || fmt.Sprint(resumed()) != "[e.1]" {
		t.Errorf("with the scope: %d, the server got %q", resp.StatusCode, resumed())
	}
}

// TestUpdatesOfResourcesNeedTheScope guarantees that a session's stream has no notification about a resource for a token
// without mcp:read.
func TestUpdatesOfResourcesNeedTheScope(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	s.set("", update)
	for scopes, want := range map[string]int{"mcp:read": 1, "mcp:write": 0} {
		token := tokenFor(t, g, reader, scopes)
		resp, _ := raw(t, g, path, token, legacyStart)
		text, err := io.ReadAll(get(t, g, path, token, resp.Header.Get("Mcp-Session-Id"), "").Body)
		if err != nil || strings.Count(string(text), "updated") != want {
			t.Errorf("%q: %s %v", scopes, text, err)
		}
	}
}
