package access_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// TestRepeatThatFindsNothingIsCommitted guarantees that a repeat waits like the change before it:
// its caller may have missed the answer. The revision moves by what is committed only.
func TestRepeatThatFindsNothingIsCommitted(t *testing.T) {
	for name, tc := range map[string]struct{ first, repeat, params, body string }{
		"a group":               {"group.delete", "group.delete", pathOf(acctA, "groupId", groupA), ""},
		"a member of a group":   {"group.delete", "group_member.remove", pathOf(acctA, "groupId", groupA, "userId", carol), ""},
		"a role":                {"role.delete", "role.delete", pathOf(acctA, "roleId", "role-unused-v1"), ""},
		"a project":             {"project.delete", "project.delete", pathOf(acctA, "projectId", projA2), ""},
		"a role assignment":     {"role_assignment.revoke", "role_assignment.revoke", pathOf(acctA, "roleId", "team_member", "assigneeId", carol), ""},
		"a replaced assignment": {"role_assignment.put", "role_assignment.put", pathOf(acctA, "roleId", "account_reader", "assigneeId", carol), `{"roleId":"team_member"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.role(resources.Role{ID: "role-unused-v1", Name: "unused", Scope: resources.RoleScopeAccount, AccountID: acctA})
			w.Expect(w.call(tc.first, areatest.As(acctA, alice), tc.params, "", tc.body), 200)
			before := w.Revision(acctA)
			w.Expect(w.call(tc.repeat, areatest.As(acctA, alice), tc.params, "", tc.body), 404)
			after := w.Revision(acctA)
			if after != before+1 {
				t.Errorf("revision %d after %d: the answer is no outcome of a commit", after, before)
			}
			w.Expect(w.call(tc.repeat, areatest.As(acctA, dan), tc.params, "", tc.body), 403)
			if w.Revision(acctA) != after {
				t.Error("a refusal is committed")
			}
		})
	}
}
