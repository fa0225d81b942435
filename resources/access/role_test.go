package access_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func (w *accessWorld) role4(query string) []string {
	w.T.Helper()
	got := w.call("role.list", areatest.As(acctA, alice), "accountId="+acctA, query, nil)
	w.Expect(got, 200)
	var ids []string
	for _, item := range got.Body["data"].([]any) {
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
	got := w.call("role.list", areatest.As(acctA, alice), "accountId="+acctA, "scope=ACCOUNT&pageSize=1", nil)
	want := `{"data":[{"id":"account_admin","name":"Account admin","scope":"ACCOUNT","status":"ACTIVE","isCustom":false,` +
		`"permissions":["account:*:*","project:*:*","resource:*:*"],"description":"Everything in the account and in all its projects."}],` +
		`"meta":{"total":4,"page":1,"pageSize":1,"totalPages":4}}`
	if got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	w.Expect(w.call("role.list", areatest.As(acctA, alice), "accountId="+acctA, "status=INACTIVE", nil), 200,
		`"isCustom":true`, `"accountId":"acct-a-v1"`, `"projectId":"proj-a1-v1"`, `"createdAt":"`+areatest.Start.String()+`"`)
}

func TestOneRole(t *testing.T) {
	w := newWorld(t)
	get := func(id, query string) areatest.Answer {
		return w.call("role.get", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+id, query, nil)
	}
	w.Expect(get("team_member", ""), 200, `"id":"team_member"`, `"isCustom":false`)
	w.Expect(get(absent, ""), 404, "There is no such role.")
	w.Expect(get(roleB, ""), 404, "There is no such role.")
	w.Expect(get("team_member", "x=1"), 400)
	w.Expect(w.call("role.get", areatest.As(acctB, bea), "accountId="+acctB+",roleId="+roleB, "", nil), 200, `"name":"theirs"`)
}
