package access_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestRepeatThatFindsNothingIsCommitted: it waits like the change that it repeats, since its
// caller may not have heard that one's answer. The revision moves by what is committed only.
func TestRepeatThatFindsNothingIsCommitted(t *testing.T) {
	for name, tc := range map[string]struct{ first, repeat, params, body string }{
		"a group":               {"group.delete", "group.delete", at(acctA, "groupId", groupA), ""},
		"a member of a group":   {"group.delete", "group_member.remove", at(acctA, "groupId", groupA, "userId", carol), ""},
		"a role":                {"role.delete", "role.delete", at(acctA, "roleId", "role-unused-v1"), ""},
		"a project":             {"project.delete", "project.delete", at(acctA, "projectId", projA2), ""},
		"a role assignment":     {"role_assignment.revoke", "role_assignment.revoke", at(acctA, "roleId", "team_member", "assigneeId", carol), ""},
		"a replaced assignment": {"role_assignment.put", "role_assignment.put", at(acctA, "roleId", "account_reader", "assigneeId", carol), `{"roleId":"team_member"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.role(resources.Role{ID: "role-unused-v1", Name: "unused", Scope: resources.RoleScopeAccount, AccountID: acctA})
			w.expect(w.call(tc.first, as(acctA, alice), tc.params, "", tc.body), 200)
			before := w.revision(acctA)
			w.expect(w.call(tc.repeat, as(acctA, alice), tc.params, "", tc.body), 404)
			after := w.revision(acctA)
			if after != before+1 {
				t.Errorf("revision %d after %d: the answer is no outcome of a commit", after, before)
			}
			w.expect(w.call(tc.repeat, as(acctA, dan), tc.params, "", tc.body), 403)
			if w.revision(acctA) != after {
				t.Error("a refusal is committed")
			}
		})
	}
}
