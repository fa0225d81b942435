package access_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// grantWorld has carol with every permission on roles and their assignments; tests add others.
func grantWorld(t *testing.T) *accessWorld {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-mgr-v1", Name: "mgr", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"account:role:*", "account:role_assignment:*"}})
	w.role(resources.Role{ID: "role-inst-v1", Name: "inst", Scope: "PROJECT", AccountID: acctA, Permissions: []string{"project:instance:*"}})
	w.role(resources.Role{ID: "role-any-v1", Name: "any", Scope: "PROJECT", AccountID: acctA, Permissions: []string{"project:*:create"}})
	w.role(resources.Role{ID: "role-on-v1", Name: "on", Scope: "RESOURCE", AccountID: acctA, Permissions: []string{"project:instance:read"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "role-mgr-v1"})
	w.key(acctA, carol)
	return w
}

func TestNobodyGrantsMoreThanTheyHave(t *testing.T) {
	key := keyCaller(acctA, carol, "write")
	end := areatest.Start + hour
	for i, tc := range []struct {
		name     string
		has      resources.Assignment // carol's, beside role-mgr-v1
		caller   resources.Principal
		role     string
		assignee string
		body     object
		status   int
	}{
		{"nothing to herself", resources.Assignment{}, areatest.As(acctA, carol), admin, carol, object{}, 403},
		{"nothing to another", resources.Assignment{}, areatest.As(acctA, carol), admin, dan, object{}, 403},
		{"nothing to her group", resources.Assignment{}, areatest.As(acctA, carol), admin, groupA, object{"assigneeType": "IAMGROUP"}, 403},
		{"as INACTIVE, to be switched on later", resources.Assignment{}, areatest.As(acctA, carol), admin, dan, object{"status": "INACTIVE"}, 403},
		{"what she has", resources.Assignment{}, areatest.As(acctA, carol), "role-mgr-v1", dan, object{}, 200},
		{"wider than hers", resources.Assignment{RoleID: "account_reader"}, areatest.As(acctA, carol), "project_admin", dan, object{"projectId": projA1}, 403},
		{"part of hers", resources.Assignment{RoleID: "account_reader"}, areatest.As(acctA, carol), "project_reader", dan, object{"projectId": projA1}, 200},
		{"from her project", resources.Assignment{RoleID: "project_admin", ProjectID: projA1}, areatest.As(acctA, carol), "role-inst-v1", dan, object{"projectId": projA1}, 200},
		{"to another project", resources.Assignment{RoleID: "project_admin", ProjectID: projA1}, areatest.As(acctA, carol), "role-inst-v1", dan, object{"projectId": projA2}, 403},
		{"crosswise patterns", resources.Assignment{RoleID: "role-inst-v1", ProjectID: projA1}, areatest.As(acctA, carol), "role-any-v1", dan, object{"projectId": projA1}, 403},
		{"on a resource from its project", resources.Assignment{RoleID: "project_reader", ProjectID: projA1}, areatest.As(acctA, carol), "role-on-v1", dan, object{"projectId": projA1, "resourceId": "instances/i-1"}, 200},
		{"on her resource", resources.Assignment{RoleID: "role-on-v1", ProjectID: projA1, ResourceID: "instances/i-1"}, areatest.As(acctA, carol), "role-on-v1", dan, object{"projectId": projA1, "resourceId": "instances/i-1"}, 200},
		{"on another resource", resources.Assignment{RoleID: "role-on-v1", ProjectID: projA1, ResourceID: "instances/i-1"}, areatest.As(acctA, carol), "role-on-v1", dan, object{"projectId": projA1, "resourceId": "instances/i-10"}, 403},
		{"in the project of her resource", resources.Assignment{RoleID: "role-on-v1", ProjectID: projA1, ResourceID: "instances/i-1"}, areatest.As(acctA, carol), "role-inst-v1", dan, object{"projectId": projA1}, 403},
		{"for ever what ends", resources.Assignment{RoleID: "account_reader", ExpiresAt: end}, areatest.As(acctA, carol), "account_reader", dan, object{}, 403},
		{"longer than hers", resources.Assignment{RoleID: "account_reader", ExpiresAt: end}, areatest.As(acctA, carol), "account_reader", dan, object{"expiresAt": (end + 1).String()}, 403},
		{"as long as hers", resources.Assignment{RoleID: "account_reader", ExpiresAt: end}, areatest.As(acctA, carol), "account_reader", dan, object{"expiresAt": end.String()}, 200},
		{"what is switched off", resources.Assignment{RoleID: "account_reader", Status: "INACTIVE"}, areatest.As(acctA, carol), "account_reader", dan, object{}, 403},
		{"reading with a write key", resources.Assignment{RoleID: "account_reader"}, key, "account_reader", dan, object{}, 403},
		{"replacing nothing else than more", resources.Assignment{RoleID: "account_reader"}, areatest.As(acctA, carol), admin, carol, object{"roleId": "account_reader"}, 403},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.status, tc.name), func(t *testing.T) {
			w := grantWorld(t)
			if tc.has.RoleID != "" {
				tc.has.AccountID, tc.has.AssigneeID = acctA, carol
				w.Assign(tc.has)
			}
			got := w.call("role_assignment.put", tc.caller, "accountId="+acctA+",roleId="+tc.role+",assigneeId="+tc.assignee, "", tc.body)
			w.Expect(got, tc.status)
			if tc.status == 403 {
				w.Expect(got, 403, "You cannot grant more than you have")
				w.holds(dan, "")
				if carols := w.held(carol); carols == "" {
					t.Errorf("case %d: carol lost what she had", i)
				}
			}
		})
	}
}

// TestADemotedActorChangesNothing guarantees that policy's yes of before is asked for
// again in the transaction.
func TestADemotedActorChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-own-v1", Name: "own", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"account:user:read"}})
	role := object{"name": "n", "scope": "ACCOUNT", "permissions": []string{"account:user:read"}}
	params := "accountId=" + acctA + ",assigneeId=" + dan + ",roleId="
	for _, caller := range []resources.Principal{areatest.As(acctA, bob), areatest.As(acctA, ivan), areatest.As(acctB, bea), {}} {
		before := w.Revision(acctA)
		w.Expect(w.call("role_assignment.put", caller, params+"team_member", "", object{}), 403)
		w.Expect(w.call("role_assignment.revoke", caller, params+"team_member", "", nil), 403)
		w.Expect(w.call("role.create", caller, params, "", role), 403)
		w.Expect(w.call("role.replace", caller, params+"role-own-v1", "", role), 403)
		w.Expect(w.call("role.delete", caller, params+"role-own-v1", "", nil), 403)
		if after := w.Revision(acctA); after != before {
			t.Errorf("the revision moved from %d to %d", before, after)
		}
	}
	w.holds(dan, "")
	w.Expect(w.call("role.get", areatest.As(acctA, alice), params+"role-own-v1", "", nil), 200, `"name":"own"`)
}
