package access_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func changeWorld(t *testing.T) (w *accessWorld, put func(id string, body any) areatest.Answer, remove func(id string) areatest.Answer) {
	w = newWorld(t)
	w.role(resources.Role{ID: "role-p-v1", Name: "p", Scope: "PROJECT", AccountID: acctA, ProjectID: projA1, Description: "old", CreatedBy: dan, Permissions: []string{"project:x:read"}})
	w.role(resources.Role{ID: "role-q-v1", Name: "q", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"account:user:read"}})
	put = func(id string, body any) areatest.Answer {
		return w.call("role.replace", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+id, "", body)
	}
	remove = func(id string) areatest.Answer {
		return w.call("role.delete", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+id, "", nil)
	}
	return w, put, remove
}

func TestARoleIsReplaced(t *testing.T) {
	w, put, _ := changeWorld(t)
	before := w.Revision(acctA)
	w.Clock.Add(1000)
	got := put("role-p-v1", object{"name": "p2", "permissions": []string{"project:y:read"}, "scope": "PROJECT", "projectId": projA1})
	want := `{"id":"role-p-v1","name":"p2","scope":"PROJECT","status":"ACTIVE","isCustom":true,"permissions":["project:y:read"],` +
		`"accountId":"acct-a-v1","projectId":"proj-a1-v1","createdBy":"user-dan-v1",` +
		`"createdAt":"` + areatest.Start.String() + `","updatedAt":"` + (areatest.Start + 1000).String() + `"}`
	if got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	if after := w.Revision(acctA); after != before+1 {
		t.Errorf("revision %d after %d", after, before)
	}
	body := object{"name": "p2", "permissions": []string{"project:y:read"}, "status": "INACTIVE"}
	w.Expect(put("role-p-v1", body), 200, `"status":"INACTIVE"`)
	delete(body, "status")
	w.Expect(put("role-p-v1", body), 200, `"status":"INACTIVE"`) // silence switches nothing on
	body["status"] = "ACTIVE"
	w.Expect(put("role-p-v1", body), 200, `"status":"ACTIVE"`)
}

func TestWhatAReplacementIsRefusedFor(t *testing.T) {
	w, put, _ := changeWorld(t)
	body := func(change object) object {
		b := object{"name": "p", "permissions": []string{"project:x:read"}}
		for k, v := range change {
			b[k] = v
		}
		return b
	}
	w.Expect(put("role-p-v1", body(object{"scope": "RESOURCE", "projectId": projA2})), 400, "scope: can't be changed", "projectId: can't be changed")
	w.Expect(put("role-p-v1", body(object{"projectId": ""})), 400, "projectId: can't be changed")
	w.Expect(put("role-q-v1", body(object{"projectId": projA1})), 400, "projectId: can't be changed")
	w.Expect(put("role-p-v1", body(object{"permissions": []string{"*:*:*"}, "name": ""})), 400, "permissions[0]: a PROJECT role", "name: must not be empty")
	w.Expect(put("role-p-v1", object{}), 400, "name: is missing", "permissions: is missing")
	w.Expect(put(absent, object{}), 400)
	w.Expect(put(absent, body(nil)), 404, "There is no such role.")
	w.Expect(put(roleB, body(nil)), 404, "There is no such role.")
	w.Expect(put("team_member", body(nil)), 403, "read only")
	w.Expect(put("role-p-v1", body(object{"name": "q"})), 409, "has this name already")
	w.Expect(put("role-p-v1", body(object{"name": "Team member"})), 409, "has this name already")
	w.Expect(w.call("role.get", areatest.As(acctA, alice), "accountId="+acctA+",roleId=role-p-v1", "", nil), 200, `"description":"old"`)
	w.Expect(w.call("role.get", areatest.As(acctB, bea), "accountId="+acctB+",roleId="+roleB, "", nil), 200, `"name":"theirs"`)
}

func TestARoleIsDeletedWhenNobodyHasIt(t *testing.T) {
	w, _, remove := changeWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "role-p-v1", ProjectID: projA1, Status: "INACTIVE"})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: "role-p-v1", ProjectID: projA1, ExpiresAt: areatest.Start})
	w.Expect(remove("role-p-v1"), 409, "2 assignments")
	w.Expect(w.revoke("role-p-v1", dan, "projectId="+projA1), 200)
	w.Expect(w.revoke("role-p-v1", groupA, "assigneeType=IAMGROUP&projectId="+projA1), 200)
	w.Expect(remove("role-p-v1"), 200, `"success":true`)
	w.Expect(remove("role-p-v1"), 404, "There is no such role.")
	w.Expect(remove(roleB), 404, "There is no such role.")
	w.Expect(remove("account_admin"), 403, "read only")
	w.Expect(w.call("role.delete", areatest.As(acctA, alice), "accountId="+acctA+",roleId=role-q-v1", "force=1", nil), 400)

	// A name that is used again inherits nothing.
	got := w.create(object{"name": "p", "scope": "PROJECT", "permissions": []string{"project:x:read"}})
	w.Expect(got, 201)
	if got.Body["id"] == "role-p-v1" {
		t.Error("the id was given again")
	}
	w.holds(dan, "")
}
