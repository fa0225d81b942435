package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// changeID is the id of a change of 24 November 2026.
const changeID = "change-01m87az00crn7j6kezmyvvbvz0-v1"

// changed is a change as the API shows it; a side that is "" is absent.
func changed(kind, subject, before, after string) string {
	out := fmt.Sprintf(`{"id":%q,"at":"2026-11-24T17:51:52.332Z","action":"account:x:update","account_revision":4,"request_id":"r","actor":{"kind":"user","id":"user-eve-v1"},"subject":{"type":%q,"id":%q}`, changeID, kind, subject)
	if before != "" {
		out += `,"before":` + before
	}
	if after != "" {
		out += `,"after":` + after
	}
	return out + "}"
}

// withChange is a site with one change. Its user may do all or nothing.
func withChange(t *testing.T, change string, may bool) *site {
	t.Helper()
	one := fmt.Sprintf(`{"decision":%t}`, may)
	return newSite(t, map[string]answer{
		"GET " + account + "/changes":                                 {200, `{"changes":[` + change + `],"next_page_token":""}`},
		"GET " + account + "/changes?page_size=5&since=" + later + "": {200, `{"changes":[],"next_page_token":""}`},
		"POST /access/v1/evaluations":                                 {200, `{"evaluations":[` + strings.Join(slices.Repeat([]string{one}, 5), ",") + `]}`},
	})
}

const later = "2026-11-24T17%3A51%3A52.333Z&subject=user-bob-v1"

// undoable are changes that one call undoes, each with it.
var undoable = map[string]struct{ change, call string }{
	"a role was given": {
		changed("role_assignment", "user-bob-v1", "", `{"assigneeType":"USER","roleId":"reader","projectId":"p-1","resourceId":"i/1","status":"ACTIVE"}`),
		"DELETE " + account + "/roles/reader/assignments/user-bob-v1?assigneeType=USER&projectId=p-1&resourceId=i%2F1",
	},
	"a role was taken": {
		changed("role_assignment", "user-bob-v1", `{"assigneeType":"GROUP","roleId":"reader","status":"ACTIVE"}`, ""),
		"PUT " + account + `/roles/reader/assignments/user-bob-v1 {"assigneeType":"GROUP","status":"ACTIVE"}`,
	},
	"an end was set": {
		changed("role_assignment", "user-bob-v1", `{"assigneeType":"USER","roleId":"reader","status":"ACTIVE"}`, `{"assigneeType":"USER","roleId":"reader","status":"ACTIVE","expiresAt":"2026-12-01T00:00:00.000Z"}`),
		"PUT " + account + `/roles/reader/assignments/user-bob-v1 {"assigneeType":"USER","status":"ACTIVE"}`,
	},
	"a role was replaced": {
		changed("role_assignment", "user-bob-v1", `{"assigneeType":"USER","roleId":"reader","status":"ACTIVE"}`, `{"assigneeType":"USER","roleId":"admin","status":"ACTIVE"}`),
		"PUT " + account + `/roles/reader/assignments/user-bob-v1 {"assigneeType":"USER","roleId":"admin","status":"ACTIVE"}`,
	},
	"a role in a project was replaced by one of the account": {
		changed("role_assignment", "user-bob-v1", `{"assigneeType":"USER","roleId":"admin","projectId":"p-1","status":"ACTIVE"}`, `{"assigneeType":"USER","roleId":"reader","status":"ACTIVE"}`),
		"PUT " + account + `/roles/admin/assignments/user-bob-v1 {"assigneeType":"USER","roleId":"reader","projectId":"p-1","status":"ACTIVE"}`,
	},
	"a member was added": {
		changed("group_member", "user-bob-v1", "", `{"group_id":"g-1","user_id":"user-bob-v1"}`),
		"DELETE " + account + "/groups/g-1/members/user-bob-v1",
	},
	"a member was removed": {
		changed("group_member", "user-bob-v1", `{"group_id":"g-1","user_id":"user-bob-v1"}`, ""),
		"PUT " + account + "/groups/g-1/members/user-bob-v1",
	},
	"a user was suspended": {
		changed("user", "user-bob-v1", `{"status":"ACTIVE","updated_at":"1"}`, `{"status":"SUSPENDED","updated_at":"2"}`),
		`PUT /api/v1/users/user-bob-v1 {"status":"ACTIVE"}`,
	},
	"a role was edited": {
		changed("role", "user-bob-v1", `{"name":"A","scope":"PROJECT","permissions":["a:b:c"],"status":"ACTIVE"}`, `{"name":"A","scope":"PROJECT","permissions":["a:b:d"],"status":"ACTIVE"}`),
		"PUT " + account + `/roles/user-bob-v1 {"name":"A","scope":"PROJECT","permissions":["a:b:c"],"status":"ACTIVE"}`,
	},
}

// TestAChangeIsUndone guarantees the call of the page, no other one, and the refusal of the API.
func TestAChangeIsUndone(t *testing.T) {
	for name, c := range undoable {
		t.Run(name, func(t *testing.T) {
			s := withChange(t, c.change, true)
			shows(t, s.get("/changes"), 200, "/changes/undo?id="+changeID, "user-eve-v1")
			page := s.get("/changes/undo?id=" + changeID)
			method, target, body := parts(c.call)
			shows(t, page, 200, method)
			confirmed := fieldValue(t, page.Body.String(), "call")
			if method2, target2, body2 := parts(confirmed); method2 != method || target2 != target || strings.ReplaceAll(body2, " ", "") != body {
				t.Fatalf("the form has %q", confirmed)
			}
			for _, wrong := range []string{"", confirmed + " "} {
				if w := s.post("/changes/undo", url.Values{"id": {changeID}, "call": {wrong}}); w.Code != 409 || len(s.api.called(c.call)) != 0 {
					t.Errorf("%q: %d, %v", wrong, w.Code, s.api.called(c.call))
				}
			}
			shows(t, s.post("/changes/undo", url.Values{"id": {changeID}, "call": {confirmed}}), 403, "You may not do this.")
			s.api.answers[method+" "+target] = answer{200, `{}`}
			w := s.post("/changes/undo", url.Values{"id": {changeID}, "call": {confirmed}})
			if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/changes?done=undone" || len(s.api.called(c.call)) != 2 {
				t.Errorf("%d %v, %v", w.Code, w.Header(), s.api.calls)
			}
		})
	}
}

// parts cuts a call into method, target and body.
func parts(call string) (method, target, body string) {
	method, rest, _ := strings.Cut(call, " ")
	target, body, _ = strings.Cut(rest, " ")
	return method, target, body
}

// fieldValue returns the value of a hidden field.
func fieldValue(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no field %s: %s", name, page)
	}
	return strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&#43;", "+").Replace(value)
}

// TestNoUndoOverAChangeNobodySaw guarantees a refusal if the subject was changed after the page was shown.
func TestNoUndoOverAChangeNobodySaw(t *testing.T) {
	c := undoable["a role was edited"]
	s := withChange(t, c.change, true)
	method, target, _ := parts(c.call)
	s.api.answers[method+" "+target] = answer{200, `{}`}
	page := s.get("/changes/undo?id=" + changeID).Body.String()
	form := url.Values{"id": {changeID}, "call": {fieldValue(t, page, "call")}, "newest": {fieldValue(t, page, "newest")}}
	const newer = "change-01m87az01cz7shnzc008tppa3t-v1"
	answers := "GET " + account + "/changes?page_size=5&since=" + later
	s.api.answers[answers] = answer{200, `{"changes":[` + strings.Replace(c.change, changeID, newer, 1) + `]}`}
	if w := s.post("/changes/undo", form); w.Code != 409 || len(s.api.called(c.call)) != 0 {
		t.Errorf("%d %v", w.Code, s.api.called(c.call))
	}
	page = s.get("/changes/undo?id=" + changeID).Body.String()
	form.Set("newest", fieldValue(t, page, "newest"))
	if w := s.post("/changes/undo", form); w.Code != http.StatusSeeOther || form.Get("newest") != newer {
		t.Errorf("%d with the newest change %q", w.Code, form.Get("newest"))
	}
}

// TestWhatNoCallUndoes guarantees no offer to undo it, and none to a user without the right.
func TestWhatNoCallUndoes(t *testing.T) {
	for name, change := range map[string]string{
		"a user was invited":            changed("user", "user-bob-v1", "", `{"status":"INVITED"}`),
		"a name was changed":            changed("user", "user-bob-v1", `{"status":"ACTIVE","name":"A"}`, `{"status":"SUSPENDED","name":"B"}`),
		"a role was made":               changed("role", "r-1", "", `{"name":"A"}`),
		"a role was deleted":            changed("role", "r-1", `{"name":"A"}`, ""),
		"a key was revoked":             changed("api_key", "k-1", `{"name":"A"}`, ""),
		"the account":                   changed("account", "acct-a-v1", `{"name":"A"}`, `{"name":"B"}`),
		"an invited user was suspended": changed("user", "user-bob-v1", `{"status":"INVITED"}`, `{"status":"SUSPENDED"}`),
		"a role of the account was replaced by one in a project": changed("role_assignment", "user-bob-v1",
			`{"assigneeType":"USER","roleId":"reader","status":"ACTIVE"}`, `{"assigneeType":"USER","roleId":"admin","projectId":"p-1","status":"ACTIVE"}`),
		"a role was replaced by one that the user had for a time": changed("role_assignment", "user-bob-v1",
			`{"assigneeType":"USER","roleId":"reader","status":"ACTIVE","role_assignments":[{"assigneeType":"USER","roleId":"admin","status":"ACTIVE","expiresAt":"2026-12-01T00:00:00.000Z"}]}`,
			`{"assigneeType":"USER","roleId":"admin","status":"ACTIVE"}`),
	} {
		s := withChange(t, change, true)
		if w := s.get("/changes"); w.Code != 200 || strings.Contains(w.Body.String(), "/changes/undo") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		shows(t, s.get("/changes/undo?id="+changeID), 409, "No single call")
	}
	s := withChange(t, undoable["a role was given"].change, false)
	if w := s.get("/changes"); strings.Contains(w.Body.String(), "/changes/undo") {
		t.Error("a button that does not work is shown")
	}
	shows(t, s.get("/changes/undo?id=change-01m87az01cz7shnzc008tppa3t-v1"), 404, "no change with this id")
	shows(t, s.get("/changes/undo?id=x"), 404, "does not exist")
}

// TestChangesAreSearched guarantees days as times, the differences alone, and escaped names.
func TestChangesAreSearched(t *testing.T) {
	s := withChange(t, changed("role", "r-1", `{"name":`+quote(hostile)+`,"permissions":["a:b:c","a:b:d"],"nested":{"deep":{"x":1}},"same":true}`, `{"name":"B","permissions":["a:b:d"],"nested":{"deep":{"x":2}},"same":true}`), true)
	w := s.get("/changes?since=2026-11-24&until=2026-11-30")
	shows(t, w, 200, "&lt;script&gt;", "<del><bdi>a:b:c</bdi></del>", "<code>nested.deep.x</code>", "<del><bdi>1</bdi></del>", "<ins><bdi>2</bdi></ins>", "changed the role <bdi>B</bdi>")
	if page := w.Body.String(); strings.Contains(page, "<bdi>a:b:d</bdi>") || strings.Contains(page, "<code>same") {
		t.Errorf("what is the same is shown: %s", page)
	}
	if got := s.api.called("/changes?"); !slices.Equal(got, []string{"GET " + account + "/changes?page_size=50&since=2026-11-24T00%3A00%3A00Z&until=2026-12-01T00%3A00%3A00Z"}) {
		t.Errorf("%v", got)
	}
	s.api.answers["GET "+account+"/changes"] = answer{400, `{"error":"Bad.","details":["since: must be a time"]}`}
	shows(t, s.get("/changes?since=soon"), 400, `<span class="field-problem">must be a time</span>`)
}

// TestChangesOfAgentsAreTold guarantees the sentences about agents' roles and delegations. The page reads the name
// of an agent, and of no user with its id.
func TestChangesOfAgentsAreTold(t *testing.T) {
	const approval = `{"id":"approval-a-v1","server":"desk","tool":"close","status":"`
	const delegation = `{"user_id":"user-bob-v1","agent_id":"agent-a-v1","permissions":["project:*:read"]}`
	for text, c := range map[string]string{
		"gave the agent <bdi>agent-a-v1</bdi> the role":                                  changed("role_assignment", "agent-a-v1", "", `{"assigneeType":"AGENT","roleId":"reader","status":"ACTIVE"}`),
		"set what <bdi>user-bob-v1</bdi> delegates to the agent <bdi>agent-a-v1</bdi>":   changed("delegation", "user-bob-v1", "", delegation),
		"approved a call of the tool <bdi>close</bdi> of the server <bdi>desk</bdi>":     changed("approval", "approval-a-v1", approval+`PENDING"}`, approval+`APPROVED"}`),
		"declined a call of the tool <bdi>close</bdi> of the server <bdi>desk</bdi>":     changed("approval", "approval-a-v1", approval+`PENDING"}`, approval+`DENIED"}`),
		"ended what <bdi>user-bob-v1</bdi> delegates to the agent <bdi>agent-a-v1</bdi>": changed("delegation", "user-bob-v1", delegation, ""),
		"made the agent <bdi>Helper</bdi>":                                               changed("agent", "agent-a-v1", "", `{"id":"agent-a-v1","name":"Helper","status":"ACTIVE"}`),
	} {
		s := withChange(t, c, true)
		shows(t, s.get("/changes"), 200, text)
		for _, asked := range s.api.called("agent-a-v1") {
			if !strings.HasSuffix(asked, "/agents/agent-a-v1") {
				t.Errorf("%s: %v", text, asked)
			}
		}
	}
	s := withChange(t, changed("delegation", "user-bob-v1", "", delegation), true)
	s.api.answers["GET "+account+"/agents/agent-a-v1"] = answer{200, `{"agent":{"id":"agent-a-v1","name":"Helper & co"}}`}
	shows(t, s.get("/changes"), 200, "Helper &amp; co")
}
