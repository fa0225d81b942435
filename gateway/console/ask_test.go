package console_test

import (
	"strings"
	"testing"
)

// TestDenyRulesAreLinked guarantees links from deny rules to their lines, for operators only: the Policy page shows nobody
// else the source.
func TestDenyRulesAreLinked(t *testing.T) {
	const verdict = `{"allowed":false,"reason":"x","denies":[{"reason":"no","at":"own/a b&c.rego:2"},{"reason":"hidden"}],` +
		`"blocked_by":[{"reason":"no","at":"own/a b&c.rego:2"}],"complete":true}`
	const link = `<a href="/policy?file=own%2Fa&#43;b%26c.rego#L2"><code>own/a b&amp;c.rego:2</code></a>`
	for _, operators := range [][]string{nil, {"user-ada-v1"}} {
		s := newSite(t, map[string]answer{"POST /api/v1/explain/accounts/acct-a-v1": {200, verdict}}, operators...)
		s.private.answers["GET /policy/tree"] = answer{200, `{"revision":"p1","files":{"own/a b&c.rego":"cGFja2FnZSBvd24KZGVueSBpZiB0cnVlCg=="}}`}
		s.private.answers["GET /policy/history"] = answer{200, `{}`}
		s.private.answers["GET /status"] = answer{200, `{}`}
		page := s.get("/ask?action=account:user:read")
		shows(t, page, 200, "own/a b&amp;c.rego:2")
		want := 0
		if operators != nil {
			want = 2
			shows(t, s.get("/policy?file=own%2Fa+b%26c.rego"), 200, `id="L2"`)
		}
		if got := strings.Count(page.Body.String(), link); got != want {
			t.Errorf("operators %v: %d links, want %d: %s", operators, got, want, page.Body)
		}
	}
}
