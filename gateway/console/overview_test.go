package console_test

import (
	"bytes"
	"compress/gzip"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
)

// full are the answers that an admin of an account gets.
func full() map[string]answer {
	return map[string]answer{
		"GET " + account + "/decisions": decisionsAnswer(recorded("d1", "user-bob-v1", "false"), recorded("d2", "user-bob-v1", "false")),
		"GET " + account + "/assignments?expires_before=2026-03-11T12%3A00%3A00.000Z&page_size=20&status=ACTIVE": {200, `{"assignments":[{"assigneeId":` + quote(hostile) + `,"roleId":"reader","projectId":"proj-p-v1","expiresAt":"2026-03-06T00:00:00.000Z"}]}`},
		"GET " + account + "/assignments?page_size=20&role=account_admin&status=ACTIVE":                          {200, `{"assignments":[{"assigneeId":"user-ada-v1","roleId":"account_admin"}]}`},
		"GET " + account + "/users":    {200, `{"users":[{"id":"user-bob-v1","name":"Bob","status":"ACTIVE"},{"id":"u","email":"dan@example.com","status":"INVITED"}]}`},
		"GET " + account + "/projects": {200, `{"projects":[{"id":"proj-p-v1","name":"P"}]}`},
	}
}

// TestTheOverviewShowsTheAccount guarantees denials, grants that end, invitations, admins, and a question of its own data.
func TestTheOverviewShowsTheAccount(t *testing.T) {
	answers := full()
	answers["GET "+account+"/decisions"] = answer{200, strings.Replace(answers["GET "+account+"/decisions"].body, "n/x", "", 1)}
	s := newSite(t, answers)
	shows(t, s.get("/"), 200, `<p class="figure">2</p>`, `<rect x="290"`, "at most 2 in one", "no_role", "Why may Bob not do project:instance:create?", "resource=instances%2Fi-1",
		"&lt;script&gt;", "6 Mar 2026", "dan@example.com", `<a href="/people/user-ada-v1"><bdi>Ada</bdi></a> <code class="id">user-ada-v1</code>`)
	if len(s.private.calls) != 0 {
		t.Errorf("a member's page asked the operators' listener: %v", s.private.calls)
	}
}

// TestTheOverviewIsBounded guarantees that an account with many denials is not read to its end, and the inputs of the last
// denials alone.
func TestTheOverviewIsBounded(t *testing.T) {
	s := newSite(t, full())
	shows(t, s.get("/"), 200, `<p class="figure">10+</p>`)
	if got := s.api.called("inputs=false"); len(got) != 5 || !strings.Contains(got[4], "page_token=n%2Fx") {
		t.Errorf("%v", got)
	}
	answers := full()
	for path, one := range answers {
		one.body = strings.Replace(one.body, `"decisions":[{`, `"decisions":[],"left":[{`, 1)
		answers[path] = one
	}
	shows(t, newSite(t, answers).get("/"), 200, `<p class="figure">0+</p>`, "No denials among the decisions that were read.")
	if got := s.api.called("page_size=20&path=authz%2Fdecision"); len(got) != 1 || len(s.api.called("/decisions")) != 6 {
		t.Errorf("%v", s.api.called("/decisions"))
	}
}

// TestTheOverviewLeavesOutWhatIsRefused guarantees a page without errors for a user who may read nothing.
func TestTheOverviewLeavesOutWhatIsRefused(t *testing.T) {
	w := newSite(t, map[string]answer{}).get("/")
	shows(t, w, 200, "What may I do here?")
	for _, part := range []string{"Watch decisions", "Denials", "Roles that end", "invitations", "Admins", "Policy in force", "You may not"} {
		if strings.Contains(w.Body.String(), part) {
			t.Errorf("%s is on the page", part)
		}
	}
	answers := full()
	delete(answers, "GET "+account+"/decisions")
	answers["GET "+account+"/users"] = answer{200, `{"users":[{"id":"user-bob-v1","name":"Bob","status":"ACTIVE"},{"id":"user-ada-v1","name":"Ada","status":"ACTIVE"}]}`}
	shows(t, newSite(t, answers).get("/"), 200, "May I do project:instance:create in P?", "user=user-ada-v1")
	answers["GET "+account+"/users"] = answer{500, `{}`}
	shows(t, newSite(t, answers).get("/"), 500)
}

// TestOperatorsSeeTheInstallation guarantees the policy in force, what was refused, and the stores.
func TestOperatorsSeeTheInstallation(t *testing.T) {
	s := newSite(t, full(), "user-ada-v1")
	s.private.answers["GET /status"] = answer{200, `{"version":"v9","policy":{"revision":"p9","since":"2026-03-01T00:00:00.000Z","refused":{"at":"2026-03-02T00:00:00.000Z","reasons":["a test fails"]}},` +
		`"stores":[{"name":"mongodb","state":"lost","error":"no primary"}],"outbox":{"pending":3,"dead":2}}`}
	s.private.answers["GET /policy/history"] = answer{200, `{"history":[{"revision":"p10","at":"2026-03-02T00:00:00.000Z","outcome":"refused","reasons":[]}]}`}
	shows(t, s.get("/"), 200, "p9", "a test fails", "✕ lost", "no primary", "✕ 2 failed", "✕ refused", "Read the policy in force")
}

var tags = regexp.MustCompile(`<[^>]*>`)

// TestAFileOfPolicyIsShownAsItIs guarantees that colours change no character.
func TestAFileOfPolicyIsShownAsItIs(t *testing.T) {
	s := newSite(t, map[string]answer{}, "user-ada-v1")
	for _, source := range []string{
		"package a\n\n# <script>\nallow if input.x == \"a\\\"b\" # c\n", "x := `raw <b>\nmore` + 12.5e3", "\"open\ny", "`open\n#", "x\r\ny", "", "\n\n", "é1_2 := {\"ü\": 3}", "a\xffb", "0", "\\",
	} {
		s.private.answers["GET /policy/tree"] = answer{200, `{"revision":"p1","bundle":"b<1","files":{"a/<b>.rego":` + string(jsonOf(t, []byte(source))) + `}}`}
		w := s.get("/policy?file=a/%3Cb%3E.rego")
		shows(t, w, 200, "a/&lt;b&gt;.rego", "b&lt;1")
		_, rest, _ := strings.Cut(w.Body.String(), "<pre class=\"source\"")
		code, _, _ := strings.Cut(rest, "</code>")
		_, code, _ = strings.Cut(code, "<code>")
		got := html.UnescapeString(tags.ReplaceAllString(strings.ReplaceAll(code, `<span class="line" id="L1">`, ""), "\x00"))
		got = strings.ReplaceAll(got, "\x00", "")
		want := strings.NewReplacer("\r", "", "\n", "", "\xff", "\ufffd").Replace(source)
		if got != want {
			t.Errorf("%q is shown as %q", source, got)
		}
	}
	s.private.answers["GET /policy/tree"] = answer{200, `{"revision":"p1","files":{"a.rego":` + string(jsonOf(t, []byte("x if \"a\\\"b\" # c"))) + `}}`}
	shows(t, s.get("/policy"), 200, `x <span class="k">if</span> <span class="s">&#34;a\&#34;b&#34;</span> <span class="c"># c</span>`)
	shows(t, s.get("/policy?file=x"), 404, "does not have this file")
}

// TestOthersSeeTheSystemRoles guarantees that a member's page does not ask for the tree.
func TestOthersSeeTheSystemRoles(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/roles": {200, `{"data":[{"id":"reader","name":"Reader","scope":"ACCOUNT","permissions":["account:*:read"]},{"id":"r","name":"Own","isCustom":true}]}`}}, "user-other-v1")
	w := s.get("/policy?file=authz/decision.rego")
	shows(t, w, 200, "Reader", "account:*:read")
	if strings.Contains(w.Body.String(), "Own") || len(s.private.calls) != 0 {
		t.Errorf("%v %s", s.private.calls, w.Body)
	}
	shows(t, newSite(t, map[string]answer{}).get("/policy"), 403, "You may not do this.")
}

// TestTheScriptIsSmall guarantees the budget of the design: 10 KB, and 4 KB with gzip.
func TestTheScriptIsSmall(t *testing.T) {
	raw, err := os.ReadFile("assets/console.js")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	out := gzip.NewWriter(&packed)
	_, _ = out.Write(raw)
	_ = out.Close()
	if len(raw) > 10_000 || packed.Len() > 4_000 {
		t.Errorf("%d bytes, %d with gzip", len(raw), packed.Len())
	}
}
