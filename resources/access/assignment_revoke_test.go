package access_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// revoke asks role_assignment.revoke as alice, an account admin of A.
func (w *accessWorld) revoke(role, assignee, query string) areatest.Answer {
	w.T.Helper()
	return w.call("role_assignment.revoke", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+role+",assigneeId="+assignee, query, nil)
}

func TestAnAssignmentIsRevoked(t *testing.T) {
	w := newWorld(t)
	got := w.revoke("team_member", carol, "")
	w.Expect(got, 200)
	if got.Body["success"] != true || got.Body["message"] == "" || len(got.Body) != 2 {
		t.Errorf("got %s", got.Text)
	}
	w.holds(carol, "")
	w.Expect(w.revoke("project_reader", bob, "assigneeType=USER&projectId="+projA1), 200)
	w.holds(bob, "")

	w.role(resources.Role{ID: "role-res-v1", Name: "res", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:instance:read"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: "role-res-v1", ProjectID: projA1, ResourceID: "instances/i-1"})
	w.Expect(w.revoke("role-res-v1", groupA, "assigneeType=IAMGROUP&projectId="+projA1+"&resourceId=instances/i-2"), 404)
	w.Expect(w.revoke("role-res-v1", groupA, "assigneeType=IAMGROUP&projectId="+projA1+"&resourceId=instances/i-1"), 200)
	w.holds(carol, "")
}

func TestRevokingWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct{ role, assignee, query string }{
		"never granted":   {"account_reader", carol, ""},
		"another project": {"project_reader", bob, "projectId=" + projA2},
		"no project":      {"project_reader", bob, ""},
		"with a project":  {"team_member", carol, "projectId=" + projA1},
		"as a group":      {"team_member", carol, "assigneeType=IAMGROUP"},
		"absent role":     {absent, carol, ""},
		"their role":      {roleB, carol, ""},
		"absent user":     {"team_member", absent, ""},
		"their user":      {"account_admin", bea, ""},
		"their group":     {"team_member", groupB, "assigneeType=IAMGROUP"},
		"absent project":  {"project_reader", bob, "projectId=" + absent},
		"their project":   {"project_reader", bob, "projectId=" + projB1},
	} {
		t.Run("404 "+name, func(t *testing.T) {
			w := w.sub(t)
			before := w.Revision(acctA)
			got := w.revoke(tc.role, tc.assignee, tc.query)
			if got.Status != 404 || got.Err.Message != "There is no such role assignment." {
				t.Errorf("%d %s", got.Status, got.Text)
			}
			// A repeat must not be answered before the first one is in force.
			if after := w.Revision(acctA); after != before+1 {
				t.Errorf("revision %d after %d", after, before)
			}
		})
	}
	w.holds(carol, "team_member@ ACTIVE") // and nothing was granted by it
	w.holds(bob, "project_reader@proj-a1-v1 ACTIVE")
	w.Expect(w.call("role_assignment.list_of_user", areatest.As(acctB, bea), "accountId="+acctB+",userId="+bea, "", nil), 200, "account_admin")
}

func TestWhatARevocationIsRefusedFor(t *testing.T) {
	w := newWorld(t)
	got := w.revoke("team_member", carol, "assigneeType=GROUP&projectId=a|b&resourceId=x&status=ACTIVE&project=1&project=2")
	w.Expect(got, 400, "assigneeType: must be one of", "projectId: must be 1 to 128", "resourceId: must have the form",
		"status: unknown", "project: unknown", "project: must be sent once")
	w.Expect(w.call("role_assignment.revoke", areatest.As(acctA, alice), "accountId="+acctA+",roleId=team_member,assigneeId="+carol, "", `{"projectId":"x"}`), 400)
	w.holds(carol, "team_member@ ACTIVE")
}
