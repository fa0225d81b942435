package access_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

func (w *world) role4(query string) []string {
	w.t.Helper()
	got := w.call("role.list", as(acctA, alice), "accountId="+acctA, query, nil)
	w.expect(got, 200)
	var ids []string
	for _, item := range got.body["data"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func TestRolesOfAnAccount(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-1-v1", Name: "zebra", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"account:user:read"}})
	w.role(resources.Role{ID: "role-2-v1", Name: "ape", Scope: "PROJECT", AccountID: acctA, ProjectID: projA1, Status: "INACTIVE", Permissions: []string{"project:x:read"}})
	w.role(resources.Role{ID: "role-3-v1", Name: "bee", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:x:read"}})
	for query, want := range map[string]string{
		"":                            "account_admin account_reader project_admin project_reader team_member role-2-v1 role-3-v1 role-1-v1",
		"scope=ACCOUNT":               "account_admin account_reader team_member role-1-v1",
		"scope=PROJECT":               "project_admin project_reader role-2-v1",
		"scope=RESOURCE":              "role-3-v1",
		"status=INACTIVE":             "role-2-v1",
		"projectId=" + projA1:         "role-2-v1",
		"projectId=" + projA2:         "",
		"projectId=" + projB1:         "",
		"page=2&pageSize=5":           "role-2-v1 role-3-v1 role-1-v1",
		"page=3&pageSize=5":           "",
		"page=2147483647":             "",
		"scope=PROJECT&status=ACTIVE": "project_admin project_reader",
	} {
		if got := strings.Join(w.role4(query), " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	got := w.call("role.list", as(acctA, alice), "accountId="+acctA, "scope=ACCOUNT&pageSize=1", nil)
	want := `{"data":[{"id":"account_admin","name":"Account admin","scope":"ACCOUNT","status":"ACTIVE","isCustom":false,` +
		`"permissions":["account:*:*","project:*:*","resource:*:*"],"description":"Everything in the account and in all its projects."}],` +
		`"meta":{"total":4,"page":1,"pageSize":1,"totalPages":4}}`
	if got.text != want {
		t.Errorf("got  %s\nwant %s", got.text, want)
	}
	w.expect(w.call("role.list", as(acctA, alice), "accountId="+acctA, "status=INACTIVE", nil), 200,
		`"isCustom":true`, `"accountId":"acct-a-v1"`, `"projectId":"proj-a1-v1"`, `"createdAt":"`+start.String()+`"`)
}

func TestOneRole(t *testing.T) {
	w := newWorld(t)
	get := func(id, query string) answer {
		return w.call("role.get", as(acctA, alice), "accountId="+acctA+",roleId="+id, query, nil)
	}
	w.expect(get("team_member", ""), 200, `"id":"team_member"`, `"isCustom":false`)
	w.expect(get(absent, ""), 404, "There is no such role.")
	w.expect(get(roleB, ""), 404, "There is no such role.")
	w.expect(get("team_member", "x=1"), 400)
	w.expect(w.call("role.get", as(acctB, bea), "accountId="+acctB+",roleId="+roleB, "", nil), 200, `"name":"theirs"`)
}
