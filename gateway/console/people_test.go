package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// changeForm is a form with the one call that it makes.
type changeForm struct {
	path   string
	fields url.Values
	call   string
	// then is where the browser goes after it, "" for a page without a redirect.
	then string
	// preview is the change of a preview, "" for a form without one.
	preview string
}

// changeForms are the forms of people, groups, roles, agents and projects.
func changeForms() []changeForm {
	bob, group, role, agent := "/people/user-bob-v1", "/groups/group-x-v1", "/roles/role-x-v1", "/agents/agent-x-v1"
	return []changeForm{
		{"/people", fields("email=new@example.com"), "POST " + api + `/users/invite {"email":"new@example.com"}`, "/people?done=invited", ""},
		{bob + "/invitation", fields(), "POST " + api + "/users/user-bob-v1/invitation", bob + "?done=invited", ""},
		{
			bob + "/assign", fields("role=project_admin", "project=proj-a-v1", "until=2030-01-31T12:30"), "PUT " + api + "/roles/project_admin/assignments/user-bob-v1 " +
				`{"assigneeType":"USER","expiresAt":"2030-01-31T12:30:00.000Z","projectId":"proj-a-v1"}`, bob + "?done=assigned",
			`{"changes":[{"kind":"assign","role":"project_admin","user_id":"user-bob-v1","project_id":"proj-a-v1","until":"2030-01-31T12:30:00.000Z"}]}`,
		},
		{
			bob + "/revoke?role=r&project=proj-a-v1&resource=things%2F1", fields(), "DELETE " + api +
				"/roles/r/assignments/user-bob-v1?assigneeType=USER&projectId=proj-a-v1&resourceId=things%2F1", bob + "?done=revoked",
			`{"changes":[{"kind":"revoke","role":"r","user_id":"user-bob-v1","project_id":"proj-a-v1","resource_id":"things/1"}]}`,
		},
		{
			bob + "/status?status=SUSPENDED", fields(), `PUT /api/v1/users/user-bob-v1 {"status":"SUSPENDED"}`, bob + "?done=saved",
			`{"changes":[{"kind":"user_status","user_id":"user-bob-v1","status":"SUSPENDED"}]}`,
		},
		{
			bob + "/remove", fields(), "DELETE " + api + "/users/user-bob-v1", "/people?done=removed",
			`{"changes":[{"kind":"user_status","user_id":"user-bob-v1","status":"SUSPENDED"}]}`,
		},
		{
			"/people/" + admin + "/keys", fields("key_name=ci", "scopes=read", "scopes=write", "once=abc"),
			"POST " + api + "/users/" + admin + `/keys {"key_name":"ci","scopes":["read","write"]}`, "", "",
		},
		{bob + "/keys/apikey-x-v1/revoke", fields(), "DELETE " + api + "/users/user-bob-v1/keys/apikey-x-v1", bob + "/keys?done=revoked", ""},
		{"/groups", fields("name=Team"), "POST " + api + `/groups {"name":"Team"}`, "/groups?done=added", ""},
		{
			group + "/members/new", fields("user=user-bob-v1"), "PUT " + api + "/groups/group-x-v1/members/user-bob-v1", group + "?done=added",
			`{"changes":[{"kind":"group_add","user_id":"user-bob-v1","group_id":"group-x-v1"}]}`,
		},
		{
			group + "/members/user-bob-v1/remove", fields(), "DELETE " + api + "/groups/group-x-v1/members/user-bob-v1", group + "?done=removed",
			`{"changes":[{"kind":"group_remove","user_id":"user-bob-v1","group_id":"group-x-v1"}]}`,
		},
		{
			group + "/assign", fields("role=team_member"), "PUT " + api + `/roles/team_member/assignments/group-x-v1 {"assigneeType":"IAMGROUP"}`,
			group + "?done=assigned", `{"changes":[{"kind":"assign","role":"team_member","group_id":"group-x-v1"}]}`,
		},
		{
			group + "/revoke?role=r", fields(), "DELETE " + api + "/roles/r/assignments/group-x-v1?assigneeType=IAMGROUP", group + "?done=revoked",
			`{"changes":[{"kind":"revoke","role":"r","group_id":"group-x-v1"}]}`,
		},
		{
			group + "/delete", fields(), "DELETE " + api + "/groups/group-x-v1", "/groups?done=deleted",
			`{"changes":[{"kind":"revoke","role":"role-x-v1","group_id":"group-x-v1","project_id":"proj-a-v1","resource_id":"Text"}]}`,
		},
		{
			"/agents", fields("name=Helper", "issuer=https://login.example", "client_id=helper"), "POST " + api +
				`/agents {"clients":[{"issuer":"https://login.example","client_id":"helper"}],"name":"Helper"}`, "/agents?done=added", "",
		},
		{
			agent + "/delegation", fields("permissions=project:a:read\r\nproject:b:*", "project=proj-a-v1", "until=2030-01-31T12:30"), "PUT " + api + "/users/" + admin +
				`/delegations/agent-x-v1 {"expires_at":"2030-01-31T12:30:00.000Z","permissions":["project:a:read","project:b:*"],"project_id":"proj-a-v1"}`,
			"/people/" + admin + "?done=saved", "",
		},
		{agent + "/assign", fields("role=team_member"), "PUT " + api + `/roles/team_member/assignments/agent-x-v1 {"assigneeType":"AGENT"}`, agent + "?done=assigned", ""},
		{agent + "/revoke?role=r", fields(), "DELETE " + api + "/roles/r/assignments/agent-x-v1?assigneeType=AGENT", agent + "?done=revoked", ""},
		{agent + "/status?status=SUSPENDED", fields(), "PATCH " + api + `/agents/agent-x-v1 {"status":"SUSPENDED"}`, agent + "?done=saved", ""},
		{agent + "/delete", fields(), "DELETE " + api + "/agents/agent-x-v1", "/agents?done=deleted", ""},
		{bob + "/delegations/agent-x-v1/end", fields(), "DELETE " + api + "/users/user-bob-v1/delegations/agent-x-v1", bob + "?done=ended", ""},
		{
			"/roles/new", fields("name=Ops", "scope=PROJECT", "permissions=project:a:read\r\nproject:b:*"), "POST " + api +
				`/roles {"name":"Ops","scope":"PROJECT","permissions":["project:a:read","project:b:*"]}`, role + "?done=saved",
			`{"changes":[{"kind":"role_put","name":"Ops","scope":"PROJECT","permissions":["project:a:read","project:b:*"]}]}`,
		},
		{
			role + "/edit", fields("name=Ops", "scope=PROJECT", "permissions=project:a:read", "status=INACTIVE"), "PUT " + api +
				`/roles/role-x-v1 {"name":"Ops","scope":"PROJECT","permissions":["project:a:read"],"status":"INACTIVE"}`, role + "?done=saved",
			`{"changes":[{"kind":"role_put","role":"role-x-v1","status":"INACTIVE","name":"Ops","scope":"PROJECT","permissions":["project:a:read"]}]}`,
		},
		{role + "/delete", fields(), "DELETE " + api + "/roles/role-x-v1", "/roles?done=deleted", `{"changes":[{"kind":"role_delete","role":"role-x-v1"}]}`},
		{"/platform", fields("name=Prod"), "POST " + api + `/projects {"name":"Prod"}`, "/platform?done=added", ""},
		{"/platform/proj-a-v1/rename", fields("name=Prod"), "PATCH " + api + `/projects/proj-a-v1 {"name":"Prod"}`, "/platform?done=saved", ""},
		{"/platform/proj-a-v1/delete", fields(), "DELETE " + api + "/projects/proj-a-v1", "/platform?done=deleted", ""},
		{
			"/platform/proj-a-v1/security-groups/sg-x-v1/delete", fields(), "DELETE " + api + "/projects/proj-a-v1/security-groups/sg-x-v1",
			"/platform/proj-a-v1?done=deleted", "",
		},
		{"/platform/proj-a-v1/kubernetes/k-1/delete", fields(), "DELETE " + api + "/projects/proj-a-v1/kubernetes/k-1", "/platform/proj-a-v1/kubernetes?done=deleted", ""},
		{"/platform/proj-a-v1/gpu-clusters/k-1/delete", fields(), "DELETE " + api + "/projects/proj-a-v1/gpu-clusters/k-1", "/platform/proj-a-v1/gpu-clusters?done=deleted", ""},
	}
}

// TestAFormMakesOneCall guarantees the one call of each form, with the user's own credential, and where it leads.
func TestAFormMakesOneCall(t *testing.T) {
	s := newPeopleSite(t)
	for _, form := range changeForms() {
		w := s.send(admin, form.path, form.fields)
		if !slices.Equal(s.changes, []string{form.call}) {
			t.Errorf("%s: the calls are %q, want %q", form.path, s.changes, form.call)
		}
		if want := map[bool]int{true: 200, false: 303}[form.then == ""]; w.Code != want || w.Header().Get("Location") != form.then {
			t.Errorf("%s: %d %q, want %d %q", form.path, w.Code, w.Header().Get("Location"), want, form.then)
		}
	}
	if got := s.headers["PUT /api/v1/users/user-bob-v1"].Get("X-Account-ID"); got != "acct-a-v1" {
		t.Errorf("the account of a user's status is %q", got)
	}
}

// TestARefusedFormKeepsItsValues guarantees that a reader's form has the API's status and words, and its values.
func TestARefusedFormKeepsItsValues(t *testing.T) {
	s := newPeopleSite(t)
	for _, form := range changeForms() {
		w := s.send(reader, form.path, form.fields)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "You may not do this.") {
			t.Errorf("%s: %d without the API's words", form.path, w.Code)
		}
		if len(s.changes) != 1 {
			t.Errorf("%s: the calls are %q", form.path, s.changes)
		}
		for name, values := range form.fields {
			if strings.HasPrefix(form.path, "/people/"+admin) || name == "once" || name == "scope" && strings.HasSuffix(form.path, "/new") || name == "status" || name == "role" {
				continue // a form of one's own keys, a hidden field, and choices in a list
			}
			if first, _, _ := strings.Cut(values[0], "\r\n"); !strings.Contains(w.Body.String(), first) {
				t.Errorf("%s: %s is lost", form.path, name)
			}
		}
	}
}

// TestAPreviewChangesNothing guarantees the one call of a preview and the page with its answer. A reader sees no button
// of it.
func TestAPreviewChangesNothing(t *testing.T) {
	s := newPeopleSite(t)
	for _, form := range changeForms() {
		if form.preview == "" {
			continue
		}
		sent := url.Values{"do": {"preview"}}
		for name, values := range form.fields {
			sent[name] = values
		}
		w := s.send(admin, form.path, sent)
		if len(s.changes) != 0 || !slices.Equal(s.previews, []string{form.preview}) {
			t.Errorf("%s: previews %q, changes %q; want %q", form.path, s.previews, s.changes, form.preview)
		}
		for _, text := range []string{"project:thing:gain", "project:thing:lose", "The preview was cut short", `value="save"`} {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: %d without %s", form.path, w.Code, text)
			}
		}
		if strings.Contains(s.send(reader, form.path, nil).Body.String(), `value="preview"`) {
			t.Errorf("%s: a reader is offered a preview", form.path)
		}
	}
	form := fields("do=preview", "role=r")
	for body, says := range map[string]bool{`{"complete":true}`: true, `{"complete":false}`: false} {
		s.refuse("POST "+api+"/preview", 200, body)
		if page := s.send(admin, "/people/user-bob-v1/assign", form).Body.String(); strings.Contains(page, "Nobody gains or loses anything.") != says {
			t.Errorf("%s: %s", body, page)
		}
	}
	s.refuse("POST "+api+"/preview", 400, `{"error":{"code":"BAD_REQUEST","message":"The request is not valid.","details":["changes[0].until: must be in the future"]}}`)
	w := s.send(admin, "/people/user-bob-v1/assign", fields("do=preview", "role=r", "until=2020-01-01T00:00"))
	if w.Code != 400 || !strings.Contains(w.Body.String(), `<span class="field-problem">must be in the future</span>`) || !strings.Contains(w.Body.String(), `value="2020-01-01T00:00"`) {
		t.Errorf("a refused preview: %d %s", w.Code, w.Body)
	}
}

// TestAProblemStandsBesideItsField guarantees this for each shape of the API's errors.
func TestAProblemStandsBesideItsField(t *testing.T) {
	for _, c := range []struct {
		key, path, body string
		fields          url.Values
		want            string
	}{
		{
			"POST " + api + "/users/invite", "/people", `{"success":false,"error":{"code":"REQ_001","type":"bad_request","message":"No.","details":"email: is odd; other: too"}}`,
			fields("email=odd"), `value="odd" required autocomplete="off" aria-invalid="true"><span class="field-problem">is odd</span>`,
		},
		{
			"POST " + api + "/roles", "/roles/new", `{"error":{"code":"BAD_REQUEST","message":"No.","details":["permissions[1]: is odd"]}}`,
			fields("name=N", "permissions=a b"), `>a b</textarea><span class="field-problem">is odd</span>`,
		},
		{
			"PATCH " + api + "/projects/proj-a-v1", "/platform/proj-a-v1/rename", `{"error":"No.","code":"BAD_REQUEST","details":{"name":"is odd"}}`,
			fields("name="), `aria-invalid="true"><span class="field-problem">is odd</span>`,
		},
	} {
		s := newPeopleSite(t)
		s.refuse(c.key, 400, c.body)
		if w := s.send(admin, c.path, c.fields); w.Code != 400 || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d without %s in\n%s", c.path, w.Code, c.want, w.Body)
		}
	}
}

// peoplePaths are the pages of people, groups, roles and projects.
var peoplePaths = []string{
	"/people", "/people?q=te", "/people/user-bob-v1", "/people/" + admin, "/people/user-bob-v1/assign", "/people/user-bob-v1/revoke?role=r", "/people/user-bob-v1/status?status=ACTIVE",
	"/people/user-bob-v1/remove", "/people/user-bob-v1/keys", "/people/" + admin + "/keys", "/people/user-bob-v1/keys/apikey-x-v1/revoke", "/groups", "/groups/group-x-v1",
	"/groups/group-x-v1/assign", "/groups/group-x-v1/revoke?role=r", "/groups/group-x-v1/delete", "/groups/group-x-v1/members/new", "/groups/group-x-v1/members/user-bob-v1/remove",
	"/roles", "/roles/new", "/roles/role-x-v1", "/roles/role-x-v1/edit", "/roles/role-x-v1/delete", "/platform", "/platform/proj-a-v1", "/platform/proj-a-v1/rename",
	"/platform/proj-a-v1/delete", "/platform/proj-a-v1/kubernetes", "/platform/proj-a-v1/gpu-clusters", "/platform/proj-a-v1/kubernetes/k-1/delete",
	"/platform/proj-a-v1/security-groups/sg-x-v1", "/platform/proj-a-v1/security-groups/sg-x-v1/delete",
}

// inline matches scripts, styles and handlers in a page.
var inline = regexp.MustCompile(`(?i)<script(>| [^>]*>[^<])|<style|\sstyle=|\son[a-z]+\s*=|javascript:`)

// isolated matches elements whose text does not turn the text around it, and tags.
var isolated = regexp.MustCompile(`(?s)<(bdi|code|option|textarea)\b[^>]*>[^<]*</|<[^>]*>`)

// TestHostileNamesAreText guarantees that a name is text of its own on every page, and no page has code of its own.
func TestHostileNamesAreText(t *testing.T) {
	s := newPeopleSite(t)
	s.text = "<script>alert(1)</script>\" onload=x ' \u202e\x01</bdi>"
	for _, path := range peoplePaths {
		w := s.send(admin, path, nil)
		body := w.Body.String()
		if w.Code != http.StatusOK || len(s.changes) != 0 {
			t.Errorf("%s: %d, changes %q", path, w.Code, s.changes)
		}
		if strings.Contains(body, "<script>") || strings.Contains(body, `" onload`) || strings.Contains(body, "' \u202e\x01</bdi>") {
			t.Errorf("%s: the name is not text", path)
		}
		if !strings.Contains(body, "\u202e") && strings.Count(path, "/") < 3 {
			t.Errorf("%s: the name is not there", path)
		}
		if rest := isolated.ReplaceAllString(body, ""); strings.Contains(rest, "\u202e") {
			t.Errorf("%s: the name is among other text: %s", path, rest)
		}
		if code := inline.FindString(strings.ReplaceAll(body, "&#34; onload=x", "")); code != "" {
			t.Errorf("%s: the page has %q", path, code)
		}
	}
}

// TestButtonsAreThoseOfTheVerdict guarantees that a reader is offered searches and no other form.
func TestButtonsAreThoseOfTheVerdict(t *testing.T) {
	s := newPeopleSite(t)
	for _, path := range []string{"/people", "/people/user-bob-v1", "/people/user-bob-v1/keys", "/groups", "/groups/group-x-v1", "/roles", "/roles/role-x-v1", "/platform", "/platform/proj-a-v1", "/platform/proj-a-v1/kubernetes"} {
		main := func(user string) string {
			_, body, _ := strings.Cut(s.send(user, path, nil).Body.String(), "<main")
			return body
		}
		changing := regexp.MustCompile(`method="post"|/(assign|revoke|remove|delete|edit|rename|new|status)["?]`)
		if got := changing.FindString(main(reader)); got != "" {
			t.Errorf("%s: a reader is offered %s", path, got)
		}
		if path != "/platform/proj-a-v1" && !changing.MatchString(main(admin)) {
			t.Errorf("%s: an admin is offered nothing", path)
		}
	}
}

// TestAnEndStaysAnEnd guarantees that the API gets each end of a form. The first moment of 1970 stands for no end in
// records.
func TestAnEndStaysAnEnd(t *testing.T) {
	s := newPeopleSite(t)
	for path, form := range map[string]url.Values{
		"/people/user-bob-v1/assign":    fields("role=r", "until=1970-01-01T00:00"),
		"/agents/agent-x-v1/delegation": fields("permissions=project:a:read", "until=1970-01-01T00:00:00"),
		"/people/" + admin + "/keys":    fields("key_name=ci", "once=abc", "expires_at=1970-01-01T00:00"),
	} {
		if s.send(admin, path, form); len(s.changes) != 1 || !strings.Contains(s.changes[0], `"1970-01-01T00:00:00`) {
			t.Errorf("%s: the calls are %q, without the end", path, s.changes)
		}
	}
	if s.send(admin, "/people/user-bob-v1/assign", fields("do=preview", "role=r", "until=1970-01-01T00:00")); len(s.previews) != 1 || !strings.Contains(s.previews[0], `"until":"1970-01-01T00:00:00`) {
		t.Errorf("the previews are %q, without the end", s.previews)
	}
}
