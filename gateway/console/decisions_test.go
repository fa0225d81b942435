package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	denied = `{"decisions":[%],"next_page_token":"n/x","after":"cursor+1","complete":true,"missing":[]}`
	none   = `{"decisions":[],"next_page_token":"","after":"cursor+1","complete":false,"missing":["gateway-2"]}`
)

// decisionsAnswer puts decisions in an answer.
func decisionsAnswer(all ...string) answer {
	return answer{200, strings.Replace(denied, "%", strings.Join(all, ","), 1)}
}

// TestDecisionsAreListed guarantees that denials come first, filters go to the API, and names are escaped.
func TestDecisionsAreListed(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer(recorded("d1", hostile, "false"))})
	w := s.get("/decisions?user=user-bob-v1&since=1h")
	shows(t, w, 200, "✕ Denied", "&lt;script&gt;", "no role grants it", "/ask?action=project%3Ainstance%3Acreate&amp;project=proj-p-v1&amp;resource=instances%2Fi-1",
		`data-follow="/decisions/new?since=1h&amp;user=user-bob-v1&amp;verdict=deny"`, `data-after="cursor&#43;1"`, "page_token=n%2Fx", `href="/decisions/d1"`)
	if got := s.api.called("/decisions"); !slices.Equal(got, []string{"GET " + account + "/decisions?lookups=false&page_size=50&since=1h&user=user-bob-v1&verdict=deny"}) {
		t.Errorf("%v", got)
	}
	s.get("/decisions?verdict=all&page_token=x")
	if got := s.api.called("page_token=x"); len(got) != 1 || strings.Contains(got[0], "verdict") {
		t.Errorf("%v", got)
	}
	if w := s.get("/decisions?until=1h"); strings.Contains(w.Body.String(), "data-follow") {
		t.Error("a page that ends in the past is followed")
	}
}

// The records of a call at an MCP server: the call, which the door denied, and its end.
const (
	deniedCall = `{"labels":{},"decision_id":"c1","parent_id":"d1","path":"mcp/call","input":{"server":"desk","name":"open","action":{"id":"project:desk:open"}},"result":{"allow":false,"code":"no_role"},"requested_by":"user-bob-v1","timestamp":"2026-03-04T11:59:30.000Z"}`
	endedCall  = `{"labels":{},"decision_id":"e1","parent_id":"d1","path":"mcp/outcome","input":{"server":"desk","name":"open"},"result":{"ended_by":"caller","status":200},"requested_by":"user-bob-v1","timestamp":"2026-03-04T11:59:30.000Z"}`
)

// TestTheEndOfACallIsNoDenial guarantees the word for the end of a call at an MCP server, and that the overview counts the
// denial of a call once.
func TestTheEndOfACallIsNoDenial(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer(endedCall)})
	for _, page := range []string{"/decisions?verdict=all", "/decisions/e1"} {
		if w := s.get(page); w.Code != 200 || !strings.Contains(w.Body.String(), "Ended</span>") || strings.Contains(w.Body.String(), "✕ Denied</span>") {
			t.Errorf("%s: %d %s", page, w.Code, w.Body)
		}
	}
	answers := full()
	answers["GET "+account+"/decisions"] = answer{200, strings.Replace(decisionsAnswer(deniedCall, recorded("d1", "user-bob-v1", "false")).body, "n/x", "", 1)}
	shows(t, newSite(t, answers).get("/"), 200, `<p class="figure">1</p>`)
}

// TestLookupsAreLeftOut guarantees that the page says so, and shows them on request, with the same filters.
func TestLookupsAreLeftOut(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer(recorded("d1", "user-bob-v1", "false"))})
	shows(t, s.get("/decisions?user=user-bob-v1&verdict=all"), 200, "Without lookups", `href="/decisions?lookups=true&amp;user=user-bob-v1&amp;verdict=all"`)
	w := s.get("/decisions?user=user-bob-v1&verdict=all&lookups=true")
	shows(t, w, 200, "Includes lookups", `href="/decisions?user=user-bob-v1&amp;verdict=all"`, `<input type="hidden" name="lookups" value="true">`,
		`data-follow="/decisions/new?lookups=true&amp;user=user-bob-v1&amp;verdict=all"`)
	if got := s.api.called("/decisions"); len(got) != 2 || !strings.Contains(got[0], "lookups=false") || !strings.Contains(got[1], "lookups=true") {
		t.Errorf("%v", got)
	}
}

// TestWithoutDenialsAllDecisionsAreListed guarantees it for the page without a choice alone.
func TestWithoutDenialsAllDecisionsAreListed(t *testing.T) {
	s := newSite(t, map[string]answer{
		"GET " + account + "/decisions?lookups=false&page_size=50&verdict=deny": {200, none},
		"GET " + account + "/decisions?lookups=false&page_size=50":              decisionsAnswer(recorded("d2", "user-bob-v1", "true")),
	})
	shows(t, s.get("/decisions"), 200, "✓ Allowed</span>")
	shows(t, s.get("/decisions?verdict=deny"), 200, "No decisions", "Nothing was denied", "gateway-2")
}

// TestDecisionsThatAreRefused guarantees the API's status and words, beside the field.
func TestDecisionsThatAreRefused(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": {400, `{"error":"Bad.","details":["since: must be a time"]}`}})
	shows(t, s.get("/decisions?since=x"), 400, `<span class="field-problem">must be a time</span>`, `aria-invalid="true"`)
	shows(t, newSite(t, map[string]answer{}).get("/decisions"), 403, "You may not do this.")
	shows(t, newSite(t, map[string]answer{}).get("/decisions/01m87c91zzbfeek32kbvvb205j"), 403, "You may not do this.")
}

// TestADecisionIsShownWhole guarantees its facts, its place and the whole record, which the API finds by the id.
func TestADecisionIsShownWhole(t *testing.T) {
	const id, unknown = "01m87c91zzbfeek32kbvvb205j", "01m87c91zzbfeek32kbvvb2000"
	byID := func(id string) string { return "GET " + account + "/decisions?id=" + id }
	s := newSite(t, map[string]answer{
		byID(id):      decisionsAnswer(recorded(id, hostile, "false")),
		byID(unknown): {200, strings.Replace(none, "false", "true", 1)},
		byID("odd"):   {400, `{"error":"Bad.","details":["id: must be a decision_id"]}`},
	})
	shows(t, s.get("/decisions/"+id), 200, "✕ no</span> <bdi>the user is a member of the account", "✓ yes</span> <bdi>the account is active</bdi>", "not active</span> <code>reader", "LOG",
		"<code>HASH</code>", "Ask again now", "&lt;script&gt;", "<bdi>same_account</bdi>")
	shows(t, s.get("/decisions/"+unknown), 404, "no decision with this id")
	s.api.answers[byID(unknown)] = answer{200, none} // a gateway did not answer
	shows(t, s.get("/decisions/"+unknown), 503, "Not all logs could be searched")
	shows(t, s.get("/decisions/odd"), 404, "does not exist")
	masked := `{"labels":{},"decision_id":"` + id + `","path":"authz/decision","timestamp":"2026-03-04T11:58:30.000Z","erased":["/input"]}`
	s.api.answers[byID(id)] = decisionsAnswer(masked)
	shows(t, s.get("/decisions/"+id), 200, "✕ Denied", "/input")
	s.api.answers[byID(id)] = answer{200, strings.Replace(denied, "%", "", 1)}
	s.api.answers[byID(id)+"&page_token=n%2Fx"] = decisionsAnswer(recorded(id, "user-bob-v1", "false"))
	shows(t, s.get("/decisions/"+id), 200, "user-bob-v1")
}

// TestADecisionShowsNoFactThatIsNotRecorded guarantees the user of an app's decision, and no condition on a page whose record
// has none: neither for an app nor for a call at an MCP server. A caller of an app sends further members.
func TestADecisionShowsNoFactThatIsNotRecorded(t *testing.T) {
	const app = `{"labels":{},"decision_id":"a1","path":"apps/docs/decision","requested_by":"service-docs","timestamp":"2026-03-04T11:58:30.000Z","result":{"decision":true},` +
		`"input":{"action":{"name":"read","id":1},"facts":{"account":{"id":"acct-a-v1","exists":true,"status":"ACTIVE"},"member":true,"principal":{"id":"service-docs","kind":"service"},"status":"ACTIVE"},` +
		`"subject":{"ID":"user-x-v1","type":"user","id":"user-bob-v1"}}}`
	call := strings.Replace(deniedCall, `"input":{`, `"input":{"account":{"id":"acct-a-v1"},`, 1)
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer(app)})
	w := s.get("/decisions/a1")
	shows(t, w, 200, "<dt>About</dt><dd><a href=\"/decisions?verdict=all&amp;user=user-bob-v1\">", `<span class="muted">(service)</span>`)
	s.api.answers["GET "+account+"/decisions"] = decisionsAnswer(call)
	for _, body := range []string{w.Body.String(), s.get("/decisions/c1").Body.String()} {
		if strings.Contains(body, "✕ no") || !strings.Contains(body, "As recorded") {
			t.Error(body)
		}
	}
}

// TestDecisionsAreFollowed guarantees new rows with the newest first, and one call of the API alone: another one would be
// a decision that wakes the page again.
func TestDecisionsAreFollowed(t *testing.T) {
	s := newSite(t, map[string]answer{"GET " + account + "/decisions": decisionsAnswer(recorded("newer", hostile, "false"), recorded("older", "user-b-v1", "false"))})
	w := s.get("/decisions/new?verdict=deny&after=c")
	shows(t, w, 200, "&lt;script&gt;")
	if page := w.Body.String(); w.Header().Get("X-After") != "cursor+1" || w.Header().Get("X-Left-Out") != "false" || strings.Index(page, "newer") > strings.Index(page, "older") || strings.Contains(page, "<html") {
		t.Errorf("%v %s", w.Header(), page)
	}
	if !slices.Equal(s.api.calls, []string{"GET " + account + "/decisions?after=c&lookups=false&newest=true&page_size=10&verdict=deny&wait=20s"}) {
		t.Errorf("%v", s.api.calls)
	}
	s.api.answers["GET "+account+"/decisions"] = answer{200, strings.Replace(decisionsAnswer(recorded("last", "user-b-v1", "false")).body, `"complete"`, `"left_out":true,"complete"`, 1)}
	if w := s.get("/decisions/new?verdict=deny&after=c"); !strings.Contains(w.Body.String(), "last") || strings.Contains(w.Body.String(), "newer") || w.Header().Get("X-Left-Out") != "true" {
		t.Errorf("another answer is shown as %v %s", w.Header(), w.Body)
	}
	shows(t, newSite(t, map[string]answer{}).get("/decisions/new"), 403)
	r := httptest.NewRequest(http.MethodGet, "/decisions/new", http.NoBody)
	r.Host = "127.0.0.1:9003"
	out := httptest.NewRecorder()
	if s.ServeHTTP(out, r); out.Code != 401 {
		t.Errorf("without a session: %d", out.Code)
	}
}

// TestFollowersAreBounded guarantees 503 for one too many of an account, a place for another account, and that all end
// with the console.
func TestFollowersAreBounded(t *testing.T) {
	s := newSite(t, map[string]answer{})
	s.api.waits = "/api/v1/accounts/"
	const all, most = 201, 200
	answers := make(chan *httptest.ResponseRecorder, all+1)
	follow := func(secret string) {
		answers <- s.sendAs(secret, httptest.NewRequest(http.MethodGet, "/decisions/new?after=c", http.NoBody))
	}
	late := time.After(10 * time.Second) // before followers end by themselves
	want := func(many int, text string) {
		t.Helper()
		for range many {
			select {
			case w := <-answers:
				shows(t, w, 503, text)
			case <-late:
				t.Fatalf("nobody is told %q", text)
			}
		}
	}
	for range all {
		go follow("s")
	}
	want(all-most, "too many pages follow")
	go follow("b")
	for begun := time.Now(); len(s.api.called("/acct-b-v1/decisions")) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 5*time.Second {
			t.Fatal("another account has no place")
		}
	}
	s.Close()
	want(most+1, "")
}

// TestNothingForASessionThatEndsMeanwhile guarantees that a following page gets no decision after its session has ended.
func TestNothingForASessionThatEndsMeanwhile(t *testing.T) {
	s := newSite(t, map[string]answer{})
	s.api.instead = map[string]func(*http.Request) (*http.Response, error){"GET " + account + "/decisions": func(r *http.Request) (*http.Response, error) {
		err := s.session.End(r.Context(), "s")
		body := decisionsAnswer(recorded("d1", "user-bob-v1", "false")).body
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, err
	}}
	w := s.get("/decisions/new?after=c")
	shows(t, w, 401, "the session has ended")
	if strings.Contains(w.Body.String(), "user-bob-v1") || w.Header().Get("X-After") != "" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}
