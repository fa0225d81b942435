package doors_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors"
)

// TestMetadataIsBetweenHostAndPath guarantees the URL of RFC 9728.
func TestMetadataIsBetweenHostAndPath(t *testing.T) {
	for url, want := range map[string]string{
		"https://g.example":                   "https://g.example/.well-known/oauth-protected-resource",
		"https://g.example/":                  "https://g.example/.well-known/oauth-protected-resource",
		"https://g.example:8443/mcp/github":   "https://g.example:8443/.well-known/oauth-protected-resource/mcp/github",
		"https://g.example/base/mcp/github/":  "https://g.example/.well-known/oauth-protected-resource/base/mcp/github/",
		"http://localhost:1/mcp/accounts/a/x": "http://localhost:1/.well-known/oauth-protected-resource/mcp/accounts/a/x",
	} {
		if got := (doors.Resource{URL: url}).Metadata(); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// TestChallengeIsOneHeader guarantees that no value ends its quotes.
func TestChallengeIsOneHeader(t *testing.T) {
	r := doors.Resource{URL: `https://g.example/a"b\c`}
	want := `Bearer error="insufficient_scope", resource_metadata="https://g.example/.well-known/oauth-protected-resource/a\"b\\c", scope="mcp:read mcp:write"`
	if got := r.Challenge("insufficient_scope", []string{"mcp:read", "mcp:write"}); got != want {
		t.Error(got)
	}
	if got := (doors.Resource{URL: "https://g.example/x"}).Challenge("", nil); got != `Bearer resource_metadata="https://g.example/.well-known/oauth-protected-resource/x"` {
		t.Error(got)
	}
}
