package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// put asks role_assignment.put as alice, an account admin of A.
func (w *accessWorld) put(role, assignee, query string, body any) areatest.Answer {
	w.T.Helper()
	return w.call("role_assignment.put", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+role+",assigneeId="+assignee, query, body)
}

// held is a user's role_assignment.list_of_user as lines of role@project#resource status.
func (w *accessWorld) held(user string) string {
	w.T.Helper()
	got := w.call("role_assignment.list_of_user", areatest.As(acctA, alice), "accountId="+acctA+",userId="+user, "pageSize=100", nil)
	w.Expect(got, 200)
	var out []string
	for _, item := range got.Body["data"].([]any) {
		m := item.(map[string]any)
		line := fmt.Sprint(m["roleId"], "@", m["projectId"])
		if m["resourceId"] != nil {
			line += fmt.Sprint("#", m["resourceId"])
		}
		out = append(out, line+" "+fmt.Sprint(m["status"]))
	}
	return strings.Join(out, ", ")
}

func (w *accessWorld) holds(user, want string) {
	w.T.Helper()
	if got := w.held(user); got != want {
		w.T.Errorf("%s holds %q, want %q", user, got, want)
	}
}

type object map[string]any

func TestARoleIsGranted(t *testing.T) {
	w := newWorld(t)
	got := w.put("project_reader", dan, "projectId="+projA1, object{})
	w.Expect(got, 200)
	want := `{"assigneeId":"user-dan-v1","assigneeType":"USER","roleId":"project_reader","projectId":"proj-a1-v1",` +
		`"status":"ACTIVE","createdAt":"` + areatest.Start.String() + `","updatedAt":"` + areatest.Start.String() + `"}`
	if got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	w.holds(dan, "project_reader@proj-a1-v1 ACTIVE")

	got = w.put("team_member", dan, "", object{"status": "INACTIVE", "expiresAt": (areatest.Start + hour).String()})
	w.Expect(got, 200, `"status":"INACTIVE"`, `"expiresAt":"`+(areatest.Start+hour).String()+`"`)
	if _, exists := got.Body["projectId"]; exists {
		t.Errorf("projectId is in %s", got.Text)
	}
	w.Expect(w.put("team_member", groupA, "", object{"assigneeType": "IAMGROUP", "roleId": nil}), 200, `"IAMGROUP"`)
	w.Expect(w.put("account_reader", ivan, "", object{}), 200) // a member of any status
}

func TestAGrantIsIdempotent(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.put("team_member", dan, "", object{}), 200)
	w.Clock.Add(1000)
	w.Expect(w.put("team_member", dan, "", object{}), 200, `"updatedAt":"`+areatest.Start.String()+`"`)
	w.holds(dan, "team_member@ ACTIVE")

	got := w.put("team_member", dan, "", object{"status": "INACTIVE", "expiresAt": (areatest.Start + hour).String()})
	w.Expect(got, 200, `"INACTIVE"`, `"createdAt":"`+areatest.Start.String()+`"`, `"updatedAt":"`+(areatest.Start+1000).String()+`"`, "expiresAt")
	w.holds(dan, "team_member@ INACTIVE")
	got = w.put("team_member", dan, "", object{})
	w.Expect(got, 200, `"ACTIVE"`)
	if strings.Contains(got.Text, "expiresAt") {
		t.Errorf("the end of before is still there: %s", got.Text)
	}
}

func TestARoleIsReplacedInOneStep(t *testing.T) {
	w := newWorld(t)
	t.Run("at account level", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("account_reader", carol, "", object{"roleId": "team_member"}), 200)
		w.holds(carol, "account_reader@ ACTIVE")
	})
	t.Run("in the same project", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("project_admin", bob, "", object{"roleId": "project_reader", "projectId": projA1}), 200)
		w.holds(bob, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("404 in another project", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("project_reader", bob, "projectId="+projA2, object{"roleId": "project_admin"}), 404, "role assignment")
		w.holds(bob, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("an account role by a project role", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("project_reader", carol, "projectId="+projA1, object{"roleId": "account_reader"}), 200)
		w.holds(carol, "project_reader@proj-a1-v1 ACTIVE")
	})
	t.Run("404 a project role by an account role", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("team_member", carol, "", object{"roleId": "project_reader"}), 404, "role assignment")
	})
	t.Run("by one that is held there already", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("project_admin", carol, "projectId="+projA1, object{}), 200)
		w.Clock.Add(1000)
		w.Expect(w.put("project_admin", carol, "projectId="+projA1, object{
			"roleId": "project_reader", "expiresAt": (areatest.Start + hour).String(),
		}), 200, `"createdAt":"`+areatest.Start.String()+`"`, "expiresAt")
		w.holds(carol, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("by itself", func(t *testing.T) {
		w := w.sub(t)
		w.Expect(w.put("project_admin", carol, "projectId="+projA1, object{"roleId": "project_admin", "status": "INACTIVE"}), 200,
			`"createdAt":"`+areatest.Start.String()+`"`)
		w.holds(carol, "project_admin@proj-a1-v1 INACTIVE")
	})
	t.Run("404 as a user and not as the group of that id", func(t *testing.T) {
		w := w.sub(t)
		w.group(acctA, dan)
		w.Expect(w.put("account_reader", dan, "", object{"assigneeType": "IAMGROUP"}), 200)
		w.Expect(w.put("team_member", dan, "", object{"roleId": "account_reader"}), 404, "role assignment")
		w.holds(dan, "")
	})
}

func TestReplacementThatFindsNothingMovesTheRevision(t *testing.T) {
	w := newWorld(t)
	before := w.Revision(acctA)
	w.Expect(w.put("team_member", dan, "", object{"roleId": "account_reader"}), 404)
	if after := w.Revision(acctA); after != before+1 {
		t.Errorf("revision %d after %d", after, before)
	}
	w.holds(dan, "")
}

func TestAnAssignmentEndsByItself(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.put("team_member", dan, "", object{"expiresAt": (areatest.Start + hour).String()}), 200)
	w.Clock.Store(int64(areatest.Start + hour - 1))
	w.holds(dan, "team_member@ ACTIVE")
	w.Clock.Store(int64(areatest.Start + hour))
	w.holds(dan, "team_member@ INACTIVE")
}

func TestResourceRoles(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-res-v1", Name: "res", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:instance:read"}})
	w.role(resources.Role{ID: "role-only-v1", Name: "only", Scope: "PROJECT", AccountID: acctA, ProjectID: projA1, Permissions: []string{"project:instance:read"}})
	body := object{"projectId": projA1, "resourceId": "instances/i-1"}
	w.Expect(w.put("role-res-v1", dan, "", body), 200, `"resourceId":"instances/i-1"`, `"projectId":"proj-a1-v1"`)
	w.holds(dan, "role-res-v1@proj-a1-v1#instances/i-1 ACTIVE")
	w.Expect(w.put("role-res-v1", dan, "", object{"projectId": projA1, "resourceId": "instances/i-2", "roleId": "role-res-v1"}), 404)
	w.Expect(w.put("role-only-v1", dan, "projectId="+projA1, object{}), 200)
	w.Expect(w.put("role-only-v1", dan, "projectId="+projA2, object{}), 400, "belongs to another project")
	for _, id := range []string{"instances", "instances/", "/i-1", "instances/i-1/disks", "instances/i|1", "a b/c", "instances/..", "./i-1", "i/" + strings.Repeat("a", 129)} {
		w.Expect(w.put("role-res-v1", dan, "", object{"projectId": projA1, "resourceId": id}), 400, "resourceId: must have the form")
	}
	w.Expect(w.put("role-res-v1", dan, "", object{"resourceId": ""}), 400, "resourceId: is missing", "projectId: is missing")
	w.Expect(w.put("project_reader", dan, "", body), 400, "resourceId: only a RESOURCE role")
	w.Expect(w.put("team_member", dan, "", body), 400, "resourceId: only", "projectId: an ACCOUNT role")
}

// TestAGrantMendsAnAssignmentOfAnotherScope guarantees that a role can be granted again after its
// scope has changed.
func TestAGrantMendsAnAssignmentOfAnotherScope(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "team_member", RoleScope: "PROJECT"})
	scoped := func() areatest.Answer {
		return w.call("role_assignment.list_of_user", areatest.As(acctA, alice), "accountId="+acctA+",userId="+dan, "scope=ACCOUNT", nil)
	}
	w.Expect(scoped(), 200, `"total":0`)
	w.Expect(w.put("team_member", dan, "", object{}), 200)
	w.Expect(scoped(), 200, `"total":1`)
}
