package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestAnEmptyPageIsNoAnswer guarantees "Nobody may." for the end of a complete search alone. The API ends a page early if
// many candidates are denied, and if the account changes meanwhile.
func TestAnEmptyPageIsNoAnswer(t *testing.T) {
	for body, want := range map[string]string{
		`{"results":[],"page":{"next_token":"more"},"context":{"complete":true}}`: "Nothing so far: the search has more to look at.",
		`{"results":[],"page":{"next_token":""},"context":{"complete":false}}`:    "The search finds nothing.",
		`{"results":[],"page":{"next_token":""},"context":{"complete":true}}`:     "Nobody may.",
	} {
		s := newSite(t, map[string]answer{"POST /access/v1/search/subject": {200, body}})
		page := s.get("/who?find=people&action=account:user:read")
		shows(t, page, 200, want)
		if strings.Contains(page.Body.String(), "Nobody may.") != (want == "Nobody may.") {
			t.Errorf("%s: %s", body, page.Body)
		}
	}
	s := newSite(t, map[string]answer{"POST /access/v1/search/subject": {200, `{"results":[],"page":{"next_token":"more"},"context":{"complete":true}}`}})
	shows(t, s.get("/who?find=people&action=account:user:read&page_token=x"), 200, "Nothing so far", "page_token=more")
}

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

// TestOnePlaceHasOnePath guarantees that the explanation of a question and the search for people ask about the same path, as
// the API has it. The page about a recorded decision leads to such a question. A path that a URL can't hold is refused: the
// API would get another one.
func TestOnePlaceHasOnePath(t *testing.T) {
	for resource, sent := range map[string]bool{
		"docs/a%20b": true, "mcp/desk/tools/a!b": true, "docs/a,b": true, "docs/a b": false, "docs/a#b": false, "docs/ä": false, "docs/%zz": false,
	} {
		explain := "POST /api/v1/explain/accounts/acct-a-v1/" + resource
		s := newSite(t, map[string]answer{
			"POST /access/v1/search/subject": {200, `{"results":[],"page":{"next_token":""},"context":{"complete":true}}`},
			explain:                          {200, `{"allowed":true,"reason":"x"}`},
		})
		query := "?action=account:user:read&resource=" + url.QueryEscape(resource)
		s.get("/who" + query)
		if got := s.api.called(`"accounts/acct-a-v1/` + resource + `"`); len(got) != 1 {
			t.Errorf("%s: the search is %v", resource, s.api.called("search"))
		}
		page, want, wanted := s.get("/ask"+query), 400, []string(nil)
		if sent {
			want, wanted = 200, []string{explain}
		}
		if explained := s.api.called("/explain/"); page.Code != want || !slices.Equal(explained, wanted) {
			t.Errorf("%s: %d, %v", resource, page.Code, explained)
		}
	}
}
