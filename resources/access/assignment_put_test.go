package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// put asks role_assignment.put as alice, an account admin of A.
func (w *world) put(role, assignee, query string, body any) answer {
	w.t.Helper()
	return w.call("role_assignment.put", as(acctA, alice), "accountId="+acctA+",roleId="+role+",assigneeId="+assignee, query, body)
}

// held is a user's role_assignment.list_of_user as lines of role@project#resource status.
func (w *world) held(user string) string {
	w.t.Helper()
	got := w.call("role_assignment.list_of_user", as(acctA, alice), "accountId="+acctA+",userId="+user, "pageSize=100", nil)
	w.expect(got, 200)
	var out []string
	for _, item := range got.body["data"].([]any) {
		m := item.(map[string]any)
		line := fmt.Sprint(m["roleId"], "@", m["projectId"])
		if m["resourceId"] != nil {
			line += fmt.Sprint("#", m["resourceId"])
		}
		out = append(out, line+" "+fmt.Sprint(m["status"]))
	}
	return strings.Join(out, ", ")
}

func (w *world) holds(user, want string) {
	w.t.Helper()
	if got := w.held(user); got != want {
		w.t.Errorf("%s holds %q, want %q", user, got, want)
	}
}

type object map[string]any

func TestARoleIsGranted(t *testing.T) {
	w := newWorld(t)
	got := w.put("project_reader", dan, "projectId="+projA1, object{})
	w.expect(got, 200)
	want := `{"assigneeId":"user-dan-v1","assigneeType":"USER","roleId":"project_reader","projectId":"proj-a1-v1",` +
		`"status":"ACTIVE","createdAt":"` + start.String() + `","updatedAt":"` + start.String() + `"}`
	if got.text != want {
		t.Errorf("got  %s\nwant %s", got.text, want)
	}
	w.holds(dan, "project_reader@proj-a1-v1 ACTIVE")

	got = w.put("team_member", dan, "", object{"status": "INACTIVE", "expiresAt": (start + hour).String()})
	w.expect(got, 200, `"status":"INACTIVE"`, `"expiresAt":"`+(start+hour).String()+`"`)
	if _, there := got.body["projectId"]; there {
		t.Errorf("projectId is in %s", got.text)
	}
	w.expect(w.put("team_member", groupA, "", object{"assigneeType": "IAMGROUP", "roleId": nil}), 200, `"IAMGROUP"`)
	w.expect(w.put("account_reader", ivan, "", object{}), 200) // a member of any status
}

func TestAGrantIsIdempotent(t *testing.T) {
	w := newWorld(t)
	w.expect(w.put("team_member", dan, "", object{}), 200)
	w.clock.Add(1000)
	w.expect(w.put("team_member", dan, "", object{}), 200, `"updatedAt":"`+start.String()+`"`)
	w.holds(dan, "team_member@ ACTIVE")

	got := w.put("team_member", dan, "", object{"status": "INACTIVE", "expiresAt": (start + hour).String()})
	w.expect(got, 200, `"INACTIVE"`, `"createdAt":"`+start.String()+`"`, `"updatedAt":"`+(start+1000).String()+`"`, "expiresAt")
	w.holds(dan, "team_member@ INACTIVE")
	got = w.put("team_member", dan, "", object{})
	w.expect(got, 200, `"ACTIVE"`)
	if strings.Contains(got.text, "expiresAt") {
		t.Errorf("the end of before is still there: %s", got.text)
	}
}

func TestARoleIsReplacedInOneStep(t *testing.T) {
	w := newWorld(t)
	t.Run("at account level", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("account_reader", carol, "", object{"roleId": "team_member"}), 200)
		w.holds(carol, "account_reader@ ACTIVE")
	})
	t.Run("in the same project", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("project_admin", bob, "", object{"roleId": "project_reader", "projectId": projA1}), 200)
		w.holds(bob, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("404 in another project", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("project_reader", bob, "projectId="+projA2, object{"roleId": "project_admin"}), 404, "role assignment")
		w.holds(bob, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("an account role by a project role", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("project_reader", carol, "projectId="+projA1, object{"roleId": "account_reader"}), 200)
		w.holds(carol, "project_reader@proj-a1-v1 ACTIVE")
	})
	t.Run("404 a project role by an account role", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("team_member", carol, "", object{"roleId": "project_reader"}), 404, "role assignment")
	})
	t.Run("by one that is held there already", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("project_admin", carol, "projectId="+projA1, object{}), 200)
		w.clock.Add(1000)
		w.expect(w.put("project_admin", carol, "projectId="+projA1, object{
			"roleId": "project_reader", "expiresAt": (start + hour).String(),
		}), 200, `"createdAt":"`+start.String()+`"`, "expiresAt")
		w.holds(carol, "project_admin@proj-a1-v1 ACTIVE")
	})
	t.Run("by itself", func(t *testing.T) {
		w := w.in(t)
		w.expect(w.put("project_admin", carol, "projectId="+projA1, object{"roleId": "project_admin", "status": "INACTIVE"}), 200,
			`"createdAt":"`+start.String()+`"`)
		w.holds(carol, "project_admin@proj-a1-v1 INACTIVE")
	})
	t.Run("404 as a user and not as the group of that id", func(t *testing.T) {
		w := w.in(t)
		w.group(acctA, dan)
		w.expect(w.put("account_reader", dan, "", object{"assigneeType": "IAMGROUP"}), 200)
		w.expect(w.put("team_member", dan, "", object{"roleId": "account_reader"}), 404, "role assignment")
		w.holds(dan, "")
	})
}

func TestReplacementThatFindsNothingMovesTheRevision(t *testing.T) {
	w := newWorld(t)
	before := w.revision(acctA)
	w.expect(w.put("team_member", dan, "", object{"roleId": "account_reader"}), 404)
	if after := w.revision(acctA); after != before+1 {
		t.Errorf("revision %d after %d", after, before)
	}
	w.holds(dan, "")
}

func TestAnAssignmentEndsByItself(t *testing.T) {
	w := newWorld(t)
	w.expect(w.put("team_member", dan, "", object{"expiresAt": (start + hour).String()}), 200)
	w.clock.Store(int64(start + hour - 1))
	w.holds(dan, "team_member@ ACTIVE")
	w.clock.Store(int64(start + hour))
	w.holds(dan, "team_member@ INACTIVE")
}

func TestResourceRoles(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-res-v1", Name: "res", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:instance:read"}})
	w.role(resources.Role{ID: "role-only-v1", Name: "only", Scope: "PROJECT", AccountID: acctA, ProjectID: projA1, Permissions: []string{"project:instance:read"}})
	body := object{"projectId": projA1, "resourceId": "instances/i-1"}
	w.expect(w.put("role-res-v1", dan, "", body), 200, `"resourceId":"instances/i-1"`, `"projectId":"proj-a1-v1"`)
	w.holds(dan, "role-res-v1@proj-a1-v1#instances/i-1 ACTIVE")
	w.expect(w.put("role-res-v1", dan, "", object{"projectId": projA1, "resourceId": "instances/i-2", "roleId": "role-res-v1"}), 404)
	w.expect(w.put("role-only-v1", dan, "projectId="+projA1, object{}), 200)
	w.expect(w.put("role-only-v1", dan, "projectId="+projA2, object{}), 400, "belongs to another project")
	for _, id := range []string{"instances", "instances/", "/i-1", "instances/i-1/disks", "instances/i|1", "a b/c", "instances/..", "./i-1", "i/" + strings.Repeat("a", 129)} {
		w.expect(w.put("role-res-v1", dan, "", object{"projectId": projA1, "resourceId": id}), 400, "resourceId: must have the form")
	}
	w.expect(w.put("role-res-v1", dan, "", object{"resourceId": ""}), 400, "resourceId: is missing", "projectId: is missing")
	w.expect(w.put("project_reader", dan, "", body), 400, "resourceId: only a RESOURCE role")
	w.expect(w.put("team_member", dan, "", body), 400, "resourceId: only", "projectId: an ACCOUNT role")
}

// TestAGrantMendsAnAssignmentOfAnotherScope guarantees that a role whose scope has
// changed since it was assigned can simply be granted again.
func TestAGrantMendsAnAssignmentOfAnotherScope(t *testing.T) {
	w := newWorld(t)
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "team_member", RoleScope: "PROJECT"})
	scoped := func() answer {
		return w.call("role_assignment.list_of_user", as(acctA, alice), "accountId="+acctA+",userId="+dan, "scope=ACCOUNT", nil)
	}
	w.expect(scoped(), 200, `"total":0`)
	w.expect(w.put("team_member", dan, "", object{}), 200)
	w.expect(scoped(), 200, `"total":1`)
}
