package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestRolesOfAUser(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-res-v1", Name: "res", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:instance:read"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "project_reader", ProjectID: projA1, ExpiresAt: areatest.Start + hour})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: "role-res-v1", ProjectID: projA2, ResourceID: "instances/i-1", Status: "INACTIVE"})
	list := func(query string) string {
		t.Helper()
		got := w.call("role_assignment.list_of_user", areatest.As(acctA, carol), "accountId="+acctA+",userId="+carol, query, nil)
		w.Expect(got, 200)
		return got.Text
	}
	place := areatest.Start.String()
	times := `"createdAt":"` + place + `","updatedAt":"` + place + `"}`
	team := `{"roleId":"team_member","projectId":"","status":"ACTIVE",` + times
	reader := `{"roleId":"project_reader","projectId":"proj-a1-v1","status":"ACTIVE","expiresAt":"` + (areatest.Start + hour).String() + `",` + times
	res := `{"roleId":"role-res-v1","projectId":"proj-a2-v1","resourceId":"instances/i-1","groupId":"group-a-v1","status":"INACTIVE",` + times
	// Direct ones first, in the order in which they were made, then by role.
	all := []string{reader, team, res}
	for query, want := range map[string][]string{
		"": all, "status=ACTIVE": {reader, team}, "status=INACTIVE": {res}, "scope=ACCOUNT": {team},
		"scope=PROJECT": {reader}, "scope=RESOURCE": {res}, "projectId=" + projA1: {reader}, "projectId=" + projB1: {},
		"projectId=" + absent: {}, "scope=PROJECT&status=INACTIVE": {}, "projectId=": all,
	} {
		meta := fmt.Sprintf(`"meta":{"total":%d,"page":1,"pageSize":20,"totalPages":%d}`, len(want), min(1, len(want)))
		if got, want := list(query), `{"data":[`+strings.Join(want, ",")+`],`+meta+`}`; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, got, want)
		}
	}
	if got, want := list("page=2&pageSize=2"), `{"data":[`+res+`],"meta":{"total":3,"page":2,"pageSize":2,"totalPages":2}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := list("page=9"), `{"data":[],"meta":{"total":3,"page":9,"pageSize":20,"totalPages":1}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.Clock.Store(int64(areatest.Start + hour))
	if got := list("status=INACTIVE"); strings.Count(got, "roleId") != 2 {
		t.Errorf("what has ended is not INACTIVE: %s", got)
	}
}

func TestRolesOfNobody(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("role_assignment.list_of_user", areatest.As(acctA, alice), "accountId="+acctA+",userId="+absent, "", nil), 404, "There is no such user.")
	w.Expect(w.call("role_assignment.list_of_user", areatest.As(acctA, alice), "accountId="+acctA+",userId="+bea, "", nil), 404, "There is no such user.")
	for _, route := range []string{"role.list", "role_assignment.list_of_user"} {
		got := w.call(route, areatest.As(acctA, alice), "accountId="+acctA+",userId="+absent,
			"status=active&scope=account&projectId=a|b&page=0&pageSize=101&x=1", nil)
		w.Expect(got, 400, "status: must be", "scope: must be", "projectId: must be", "page: must be", "pageSize: must be", "x: unknown")
	}
}

func TestHoldersOfARole(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: "team_member", ExpiresAt: areatest.Start})
	list := func(role, query string) areatest.Answer {
		return w.call("role_assignment.list_of_role", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+role, query, nil)
	}
	times := `"createdAt":"` + areatest.Start.String() + `","updatedAt":"` + areatest.Start.String() + `"}`
	want := `{"data":[{"assigneeId":"group-a-v1","assigneeType":"IAMGROUP","roleId":"team_member","status":"INACTIVE","expiresAt":"` + areatest.Start.String() + `",` + times +
		`,{"assigneeId":"user-carol-v1","assigneeType":"USER","roleId":"team_member","status":"ACTIVE",` + times +
		`],"meta":{"total":2,"page":1,"pageSize":20,"totalPages":1}}`
	if got := list("team_member", ""); got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	w.Expect(list("project_reader", ""), 200, `"projectId":"proj-a1-v1"`)
	w.Expect(list("project_admin", ""), 200, `{"data":[],"meta":{"total":0,`)
	w.Expect(list(absent, ""), 404, "There is no such role.")
	w.Expect(list(roleB, ""), 404, "There is no such role.")
	w.Expect(list("team_member", "page=x&assigneeType=USER"), 400, "page: must be", "assigneeType: unknown")
	got := list(admin, "") // bea holds it too, in her account
	w.Expect(got, 200, `"total":1`)
}
