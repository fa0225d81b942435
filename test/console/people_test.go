package console_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// peopleForm is a form of people, groups, roles and projects. A name in braces stands for an id that the test has read.
type peopleForm struct {
	path   string
	fields []string
	status int
	// reads is the page that has an id after it, named by its prefix.
	reads, prefix string
}

// peopleForms are forms in an order in which an admin can send them.
var peopleForms = []peopleForm{
	{"/people", []string{"email", "dora@example.com"}, 303, "/people", "user-0"},
	{"/people", []string{"email", "dora"}, 400, "", ""},
	{"/people/{user-0}/invitation", nil, 429, "", ""},
	{"/people/{user-0}/assign", []string{"role", "project_reader"}, 400, "", ""},
	{"/people/{user-0}/assign", []string{"role", "project_reader", "project", "proj-demo-v1", "until", "2999-01-31T12:00"}, 303, "", ""},
	{"/people/{user-0}/revoke?role=project_reader&project=proj-demo-v1", nil, 303, "", ""},
	{"/people/{user-0}/revoke?role=project_reader&project=proj-demo-v1", nil, 404, "", ""},
	{"/people/{user-0}/status?status=SUSPENDED", nil, 303, "", ""},
	{"/people/{user-0}/status?status=INVITED", nil, 400, "", ""},
	{"/people/" + alice + "/remove", nil, 403, "", ""},
	{"/people/" + alice + "/keys", []string{"key_name", "ci", "scopes", "read"}, 200, "/people/" + alice + "/keys", "apikey"},
	{"/people/" + alice + "/keys/{apikey}/revoke", nil, 303, "", ""},
	{"/roles/new", []string{"name", "Deployer", "scope", "PROJECT", "permissions", "project:*:read project:security_group:*"}, 303, "/roles", "role"},
	{"/roles/{role}/edit", []string{"name", "Deployer", "scope", "PROJECT", "permissions", "project:*:read"}, 303, "", ""},
	{"/roles/account_admin/edit", []string{"name", "Deployer", "scope", "ACCOUNT", "permissions", "project:*:read"}, 403, "", ""},
	{"/groups", []string{"name", "Team"}, 303, "/groups", "group"},
	{"/groups", []string{"name", "Team"}, 409, "", ""},
	{"/groups/{group}/members/new", []string{"user", "{user-0}"}, 303, "", ""},
	{"/groups/{group}/assign", []string{"role", "{role}", "project", "proj-demo-v1"}, 303, "", ""},
	{"/roles/{role}/delete", nil, 409, "", ""},
	{"/groups/{group}/revoke?role={role}&project=proj-demo-v1", nil, 303, "", ""},
	{"/groups/{group}/members/{user-0}/remove", nil, 303, "", ""},
	{"/groups/{group}/delete", nil, 303, "", ""},
	{"/roles/{role}/delete", nil, 303, "", ""},
	{"/agents", []string{"name", "Helper", "issuer", "https://login.example", "client_id", "helper"}, 303, "/agents", "agent"},
	{"/agents", []string{"name", "Other", "issuer", "https://login.example", "client_id", "helper"}, 409, "", ""},
	{"/agents", []string{"name", "Other", "issuer", "https://login.example"}, 400, "", ""},
	{"/agents/{agent}/assign", []string{"role", "project_reader", "project", "proj-demo-v1"}, 303, "", ""},
	{"/agents/{agent}/status?status=SUSPENDED", nil, 303, "", ""},
	{"/agents/{agent}/status?status=ACTIVE", nil, 303, "", ""},
	{"/agents/{agent}/revoke?role=project_reader&project=proj-demo-v1", nil, 303, "", ""},
	{"/agents/{agent}/delete", nil, 303, "", ""},
	{"/people/{user-0}/remove", nil, 303, "", ""},
	{"/platform", []string{"name", "Second"}, 303, "/platform", "proj-0"},
	{"/platform/{proj-0}/rename", []string{"name", "Demo project"}, 409, "", ""},
	{"/platform/{proj-0}/rename", []string{"name", "Third"}, 303, "", ""},
	{"/platform/{proj-0}/delete", nil, 303, "", ""},
	{"/platform/proj-demo-v1/kubernetes/cluster-absent-v1/delete", nil, 404, "", ""},
	{"/platform/proj-demo-v1/gpu-clusters/cluster-absent-v1/delete", nil, 404, "", ""},
}

// TestFormsOfPeopleDoWhatTheAPIDoes guarantees the status of each form for an admin. A reader and a member of the team
// get 403 for it, and change nothing.
func TestFormsOfPeopleDoWhatTheAPIDoes(t *testing.T) {
	t.Parallel()
	g := demo(t)
	admin, refused := signIn(t, g, alice), map[string]*browser{bob: signIn(t, g, bob), carol: signIn(t, g, carol)}
	ids := []string{}
	filled := func(text string) string { return strings.NewReplacer(ids...).Replace(text) }
	for _, form := range peopleForms {
		path, fields := filled(form.path), []string{"do", "save"}
		for _, text := range form.fields {
			fields = append(fields, filled(text))
		}
		before := lastChange(t, g)
		for user, b := range refused {
			if got := b.post(path, fields...); got.Status != http.StatusForbidden {
				t.Errorf("%s: %s gets %d", path, user, got.Status)
			}
		}
		if after := lastChange(t, g); after != before {
			t.Errorf("%s: a refused form changes something: %s", path, after)
		}
		if got := admin.post(path, fields...); got.Status != form.status {
			t.Errorf("%s: %d, want %d\n%s", path, got.Status, form.status, got.Body)
		}
		if form.reads != "" {
			id := regexp.MustCompile(form.prefix + `[a-z0-9-]*-v1`).FindString(admin.get(form.reads).Body)
			if id == "" {
				t.Fatalf("%s has no id of a %s", form.reads, form.prefix)
			}
			ids = append(ids, "{"+form.prefix+"}", id)
		}
	}
}

// TestUsersDelegateForThemselves guarantees that a user sets, changes and ends what an agent may do for them, and nobody
// sets it for another. An admin may end it.
func TestUsersDelegateForThemselves(t *testing.T) {
	t.Parallel()
	g := demo(t)
	admin, owner, other := signIn(t, g, alice), signIn(t, g, carol), signIn(t, g, bob)
	admin.post("/agents", "name", "<Helper>", "issuer", "https://login.example", "client_id", "helper")
	agent := strings.TrimPrefix(hrefTo(admin.get("/agents").Body, "<bdi>&lt;Helper&gt;</bdi>"), "/agents/")
	delegation, page, end := "/agents/"+agent+"/delegation", "/people/"+carol, "/people/"+carol+"/delegations/"+agent+"/end"
	owner.get("/agents/"+agent).want(t, 403)
	owner.get(page).want(t, 200, "An admin can send you")
	owner.get(delegation).want(t, 200, agent, "may do for you", "All actions that the policy lists")
	admin.get("/agents/agent-none-v1/delegation").want(t, 404, "There is no such agent.")
	admin.get("/agents/"+agent).want(t, 200, "&lt;Helper&gt;", "helper", "Nothing, where a server asks")
	for name, fields := range map[string][]string{
		"permissions":  {"permissions", "project:*:read x"},
		"must have at": {"permissions", ""},
		"project_id":   {"permissions", "project:*:read", "project", "proj-none-v1"},
		"expires_at":   {"permissions", "project:*:read", "until", "2001-01-31T12:00"},
	} {
		if got := owner.post(delegation, fields...); got.Status != 400 || !got.says("field-problem") {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	owner.get(page).lacks(t, agent)
	owner.post(delegation, "permissions", "project:*:read\nproject:instance:start", "project", "proj-demo-v1", "until", "2999-01-31T12:00").want(t, 303)
	owner.get(page).want(t, 200, "<code>project:instance:start</code>", end, delegation)
	owner.get(delegation).want(t, 200, "project:*:read\nproject:instance:start</textarea>", `value="proj-demo-v1"`, `value="2999-01-31T12:00:00"`)
	admin.get("/agents/"+agent).lacks(t, "At most") // what Carol delegates is not the admin's
	admin.post(delegation, "permissions", "account:*:read").want(t, 303)
	admin.get("/agents/"+agent).want(t, 200, "At most", "<code>account:*:read</code>")
	if got := other.post(end, "do", "save"); got.Status != 403 {
		t.Errorf("another user ends it: %d", got.Status)
	}
	admin.get(page).want(t, 200, "&lt;Helper&gt;", end)
	admin.get(page).lacks(t, delegation)
	admin.post(end, "do", "save").want(t, 303)
	owner.get(page).lacks(t, end)
}

// lastChange returns the id of the newest change of the account.
func lastChange(t testing.TB, g *harness.Gateway) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+"/api/v1/accounts/"+demoAccount+"/changes?page_size=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.UserToken(t, alice))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", resp.StatusCode, raw, err)
	}
	var answer struct {
		Changes []struct {
			ID string `json:"id"`
		} `json:"changes"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Changes) == 0 {
		t.Fatalf("%s %v", raw, err)
	}
	return answer.Changes[0].ID
}

// TestAPreviewSaysWhoGainsAndLoses guarantees that a preview shows what the API finds, and changes nothing.
func TestAPreviewSaysWhoGainsAndLoses(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := signIn(t, g, alice)
	before := lastChange(t, g)
	got := b.post("/people/"+bob+"/assign", "role", "project_admin", "project", "proj-demo-v1", "do", "preview")
	if got.Status != http.StatusOK || !got.says("Gains") || !got.says("<code>project:security_group:create</code>") || got.says("Loses") {
		t.Errorf("assign: %d %s", got.Status, got.Body)
	}
	got = b.post("/people/"+bob+"/status?status=SUSPENDED", "do", "preview")
	if got.Status != http.StatusOK || !got.says("<code>project:security_group:read</code>") || got.says("Gains") {
		t.Errorf("suspend: %d %s", got.Status, got.Body)
	}
	if got = b.post("/people/"+bob+"/remove", "do", "preview"); got.Status != http.StatusOK || !got.says("<code>project:security_group:read</code>") || got.says("Gains") {
		t.Errorf("remove: %d %s", got.Status, got.Body)
	}
	if got := signIn(t, g, carol).post("/people/"+bob+"/status?status=SUSPENDED", "do", "preview"); got.Status != http.StatusForbidden {
		t.Errorf("a member of the team: %d", got.Status)
	}
	if after := lastChange(t, g); after != before {
		t.Errorf("a preview changes something: %s", after)
	}
}
