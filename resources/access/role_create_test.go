package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func (w *accessWorld) create(body any) areatest.Answer {
	w.T.Helper()
	return w.call("role.create", areatest.As(acctA, alice), "accountId="+acctA, "", body)
}

func patterns(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("project:r%d:read", i)
	}
	return out
}

func TestARoleIsMade(t *testing.T) {
	w := newWorld(t)
	got := w.create(object{"name": "Größe 1", "scope": "PROJECT", "permissions": []string{"project:x:read", "resource:*:*"}, "description": "d", "projectId": projA1})
	w.Expect(got, 201)
	id, _ := got.Body["id"].(string)
	want := `{"id":"` + id + `","name":"Größe 1","scope":"PROJECT","status":"ACTIVE","isCustom":true,` +
		`"permissions":["project:x:read","resource:*:*"],"accountId":"acct-a-v1","projectId":"proj-a1-v1","description":"d",` +
		`"createdBy":"user-alice-v1","createdAt":"` + areatest.Start.String() + `","updatedAt":"` + areatest.Start.String() + `"}`
	if got.Text != want || !strings.HasPrefix(id, "role-") || !strings.HasSuffix(id, "-v1") {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	again := w.call("role.get", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+id, "", nil)
	if again.Text != got.Text {
		t.Errorf("made %s\nread %s", got.Text, again.Text)
	}
	w.Expect(w.create(object{"name": strings.Repeat("ß", 255), "scope": "ACCOUNT", "permissions": patterns(200), "status": "INACTIVE"}), 201, "INACTIVE")
	w.Expect(w.create(object{"name": "theirs", "scope": "RESOURCE", "permissions": patterns(1)}), 201) // a name of another account's
	none := w.create(object{"name": "no project", "scope": "ACCOUNT", "permissions": patterns(1), "projectId": ""})
	w.Expect(none, 201) // an empty projectId is as good as none, as in an assignment
	if _, shown := none.Body["projectId"]; shown {
		t.Errorf("shown %s", none.Text)
	}
}

func TestWhatARoleIsRefusedFor(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		change   object
		problems []string
	}{
		"name missing":        {object{"name": nil}, []string{"name: is missing"}},
		"name empty":          {object{"name": ""}, []string{"name: must not be empty"}},
		"name too long":       {object{"name": strings.Repeat("ß", 256)}, []string{"name: must have 1 to 255"}},
		"name with blanks":    {object{"name": "x "}, []string{"name: must not begin or end"}},
		"name with a break":   {object{"name": "x\ny"}, []string{"name: must not hold control"}},
		"name a number":       {object{"name": 1}, []string{"name: must be a string"}},
		"scope missing":       {object{"scope": nil}, []string{"scope: is missing"}},
		"scope unknown":       {object{"scope": "project"}, []string{"scope: must be one of"}},
		"status unknown":      {object{"status": "ON"}, []string{"status: must be one of"}},
		"description":         {object{"description": strings.Repeat("x", 1025)}, []string{"description: must have at most"}},
		"permissions missing": {object{"permissions": nil}, []string{"permissions: is missing"}},
		"permissions none":    {object{"permissions": []string{}}, []string{"permissions: must have 1 to 200"}},
		"permissions 201":     {object{"permissions": patterns(201)}, []string{"permissions: must have at most 200"}},
		"permissions object":  {object{"permissions": object{"$in": []string{}}}, []string{"permissions: must be an array"}},
		"every bad pattern": {
			object{"permissions": []any{"project:x:read", "read", 7, "project:x:read", "a:b:c", "project:X:read", ""}},
			[]string{"permissions[1]:", "permissions[2]: must be a string", "permissions[3]: is the same as permissions[0]", "permissions[4]:", "permissions[5]:"},
		},
		"an empty pattern": {object{"permissions": []string{""}}, []string{"permissions[0]: must have the form"}},
		"account patterns in a PROJECT role": {
			object{"permissions": []string{"account:user:read", "*:*:*", "project:*:*"}}, []string{"permissions[0]: a PROJECT role", "permissions[1]: a PROJECT role"},
		},
		"account patterns in a RESOURCE role": {object{"scope": "RESOURCE", "permissions": []string{"*:x:read"}}, []string{"permissions[0]: a RESOURCE role"}},
		"project of an ACCOUNT role":          {object{"scope": "ACCOUNT", "projectId": projA1}, []string{"projectId: an ACCOUNT role"}},
		"odd project of an ACCOUNT role":      {object{"scope": "ACCOUNT", "projectId": 7}, []string{"projectId: must be a string", "projectId: an ACCOUNT role"}},
		"malformed project":                   {object{"projectId": "a|b"}, []string{"projectId: must be 1 to 128"}},
		"absent project":                      {object{"projectId": absent}, []string{"projectId: is not an active project of this account"}},
		"their project":                       {object{"projectId": projB1}, []string{"projectId: is not an active project of this account"}},
		"project being deleted":               {object{"projectId": projLeaving}, []string{"projectId: is not an active project of this account"}},
		"read-only fields":                    {object{"id": "x", "isCustom": true, "accountId": acctB}, []string{"accountId: unknown", "id: unknown", "isCustom: unknown"}},
		"all at once":                         {object{"name": "", "status": 1, "permissions": []string{"account:a:b", "x"}, "projectId": absent}, []string{"name:", "status:", "permissions[0]:", "permissions[1]:", "projectId:"}},
	} {
		t.Run("400 "+name, func(t *testing.T) {
			w := w.sub(t)
			body := object{"name": "n", "scope": "PROJECT", "permissions": []string{"project:x:read"}}
			for k, v := range tc.change {
				body[k] = v
			}
			got := w.create(body)
			w.Expect(got, 400, tc.problems...)
			if len(got.Err.Problems) != len(tc.problems) {
				t.Errorf("%d problems, want %d: %s", len(got.Err.Problems), len(tc.problems), got.Text)
			}
		})
	}
	w.Expect(w.call("role.create", areatest.As(acctA, alice), "accountId="+acctA, "x=1", nil), 400, "x: unknown query", "the body must be")
	if got := w.role4("status=ACTIVE&pageSize=100"); len(got) != 5 {
		t.Errorf("something was made: %v", got)
	}
}

func TestARoleNameIsTakenOnce(t *testing.T) {
	w := newWorld(t)
	body := object{"name": "mine", "scope": "ACCOUNT", "permissions": []string{"account:user:read"}}
	w.Expect(w.create(body), 201)
	for _, name := range []string{"mine", "account_admin", "Account admin", "team_member"} {
		body["name"] = name
		w.Expect(w.create(body), 409, "has this name already")
	}
	body["name"] = "Mine"
	w.Expect(w.create(body), 201)
}

func TestARoleHoldsNoMoreThanItsMaker(t *testing.T) {
	for _, tc := range []struct {
		name   string
		has    resources.Assignment
		change object
		status int
	}{
		{"nothing", resources.Assignment{}, object{}, 403},
		{"in the project of the role", resources.Assignment{RoleID: "project_reader", ProjectID: projA1}, object{"projectId": projA1}, 201},
		{"in another project", resources.Assignment{RoleID: "project_reader", ProjectID: projA2}, object{"projectId": projA1}, 403},
		{"in one project for all", resources.Assignment{RoleID: "project_reader", ProjectID: projA1}, object{}, 403},
		{"at account level", resources.Assignment{RoleID: "account_reader"}, object{}, 201},
		{"at account level for one project", resources.Assignment{RoleID: "account_reader"}, object{"projectId": projA1}, 201},
		{"wider", resources.Assignment{RoleID: "account_reader"}, object{"permissions": []string{"project:*:*"}}, 403},
		{"for a time", resources.Assignment{RoleID: "account_reader", ExpiresAt: areatest.Start + hour}, object{}, 403},
		{"as INACTIVE", resources.Assignment{}, object{"status": "INACTIVE"}, 403},
		{"before the name is looked at", resources.Assignment{}, object{"name": "team_member"}, 403},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.status, tc.name), func(t *testing.T) {
			w := grantWorld(t)
			if tc.has.RoleID != "" {
				tc.has.AccountID, tc.has.AssigneeID = acctA, carol
				w.Assign(tc.has)
			}
			body := object{"name": "n", "scope": "PROJECT", "permissions": []string{"project:x:read"}}
			for k, v := range tc.change {
				body[k] = v
			}
			got := w.call("role.create", areatest.As(acctA, carol), "accountId="+acctA, "", body)
			w.Expect(got, tc.status)
			// role.replace is held to the same: a role with nothing in it to begin with.
			if tc.change["name"] == nil {
				project, _ := tc.change["projectId"].(string)
				w.role(resources.Role{ID: "role-put-v1", Name: "put", Scope: "PROJECT", AccountID: acctA, ProjectID: project, Permissions: []string{"project:none:none"}})
				body["name"] = "put"
				got := w.call("role.replace", areatest.As(acctA, carol), "accountId="+acctA+",roleId=role-put-v1", "", body)
				w.Expect(got, map[int]int{201: 200, 403: 403}[tc.status])
			}
		})
	}
}
