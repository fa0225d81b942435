package access_test

import (
	"net/url"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store/records"
)

// add and remove ask for a change of a group's members.
func (w *accessWorld) add(caller resources.Principal, group, user string) areatest.Answer {
	w.T.Helper()
	return w.call("group_member.add", caller, pathOf(acctA, "groupId", group, "userId", user), "", nil)
}

func (w *accessWorld) remove(caller resources.Principal, group, user string) areatest.Answer {
	w.T.Helper()
	return w.call("group_member.remove", caller, pathOf(acctA, "groupId", group, "userId", user), "", nil)
}

func (w *accessWorld) isMember(group, user string) bool {
	w.T.Helper()
	_, ok := lookUp(w, w.Collections.Members, records.MemberID(group, user))
	return ok
}

func TestMemberIsAddedAndRemovedIdempotently(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(hour))
	for i := range 2 {
		rev := w.Revision(acctA)
		w.Expect(w.add(areatest.As(acctA, alice), groupA, dan), 200, `{"success":true,"message":"`)
		if w.Revision(acctA) != rev+1 {
			t.Errorf("add %d did not commit a revision", i)
		}
		w.Clock.Add(1)
	}
	got := w.call("group_member.list", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA), "", nil)
	w.Expect(got, 200, `{"members":[{"user_id":"user-carol-v1","added_at":"2026-09-21T14:13:20.000Z"},`+
		`{"user_id":"user-dan-v1","added_at":"2026-09-21T15:13:20.000Z"}],"total_count":2,"next_page_token":""}`)
	m, _ := lookUp(w, w.Collections.Members, records.MemberID(groupA, dan))
	if m.ID != records.MemberID(groupA, dan) || m.AccountID != acctA || m.GroupID != groupA || m.UserID != dan {
		t.Errorf("the record is %+v", m)
	}
	for i := range 2 {
		rev := w.Revision(acctA)
		w.Expect(w.remove(areatest.As(acctA, alice), groupA, dan), 200, `{"success":true,"message":"`)
		if w.Revision(acctA) != rev+1 || w.isMember(groupA, dan) {
			t.Errorf("remove %d: revision %d after %d, member %v", i, w.Revision(acctA), rev, w.isMember(groupA, dan))
		}
	}
}

func TestMembersAreListedByToken(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(1)
	w.Expect(w.add(areatest.As(acctA, alice), groupA, dan), 200)
	w.group(acctA, "group-other-v1", dan)
	first := w.call("group_member.list", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA), "page_size=1", nil)
	w.Expect(first, 200, `"user_id":"user-carol-v1"`, `"total_count":2`)
	token := url.QueryEscape(first.Str("next_page_token"))
	w.Expect(w.call("group_member.list", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA), "page_size=1&page_token="+token, nil), 200,
		`"user_id":"user-dan-v1"`, `"next_page_token":""`)
	w.Expect(w.call("group_member.list", areatest.As(acctA, alice), pathOf(acctA, "groupId", "group-other-v1"), "page_token="+token, nil), 400)
}

func TestMemberIsAUserOfTheAccount(t *testing.T) {
	w := newWorld(t)
	w.loner("user-lone-v1", "lone@example.com", resources.StatusActive)
	never := w.add(areatest.As(acctA, alice), groupA, absent)
	w.Expect(never, 404, "no such user")
	same(t, "another account's", never, w.add(areatest.As(acctA, alice), groupA, bea))
	same(t, "of no account", never, w.add(areatest.As(acctA, alice), groupA, "user-lone-v1"))
	same(t, "a UUID", never, w.add(areatest.As(acctA, alice), groupA, "uuid-"+dan))
	w.Expect(w.add(areatest.As(acctA, alice), groupA, ivan), 200)
	gone := w.remove(areatest.As(acctA, alice), groupA, absent)
	w.Expect(gone, 200)
	same(t, "removing another account's", gone, w.remove(areatest.As(acctA, alice), groupA, bea))
	if !w.isMember(groupB, bea) {
		t.Error("the foreign group lost its member")
	}
	w.Expect(w.add(areatest.As(acctA, carol), groupA, dan), 403)
	w.Expect(w.remove(areatest.As(acctA, carol), groupA, carol), 403)
	w.Expect(w.call("group_member.add", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA, "userId", dan), "", `{}`), 200)
	for _, route := range []string{"group_member.add", "group_member.remove", "group.delete"} {
		caller := pathOf(acctA, "groupId", groupA, "userId", dan)
		w.Expect(w.call(route, areatest.As(acctA, alice), caller, "", `{"user_id":"user-bea-v1"}`), 400, "user_id: ")
		w.Expect(w.call(route, areatest.As(acctA, alice), caller, "force=1", nil), 400, "force: ")
	}
}

// manager makes dan somebody who may change groups and has the permissions.
func manager(w *accessWorld, permissions ...string) resources.Principal {
	w.T.Helper()
	w.role(resources.Role{
		ID: "role-manager-v1", Name: "manager", Scope: resources.RoleScopeAccount, AccountID: acctA,
		Permissions: append(permissions, "account:group:update"),
	})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "role-manager-v1"})
	return areatest.As(acctA, dan)
}

// holding is a group with some grants, and a caller with others.
type holding struct {
	name  string
	holds []string
	group func(w *accessWorld)
	want  int
}

func holdings() []holding {
	toGroup := func(role string, change func(a *resources.Assignment)) func(w *accessWorld) {
		return func(w *accessWorld) {
			a := resources.Assignment{AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: role}
			change(&a)
			w.Assign(a)
		}
	}
	whole := func(*resources.Assignment) {}
	return []holding{
		{"403 system role", nil, toGroup("account_reader", whole), 403},
		{"403 account_admin", []string{"account:*:read", "project:*:*"}, toGroup("account_admin", whole), 403},
		{"200 system role held", []string{"account:*:read", "project:*:read"}, toGroup("account_reader", whole), 200},
		{"403 inactive", nil, toGroup("account_reader", func(a *resources.Assignment) { a.Status = resources.StatusInactive }), 403},
		{"403 ending", nil, toGroup("account_reader", func(a *resources.Assignment) { a.ExpiresAt = areatest.Start + hour }), 403},
		{"403 over", nil, toGroup("account_reader", func(a *resources.Assignment) { a.ExpiresAt = areatest.Start - hour }), 403},
		{"403 in a project", nil, toGroup("project_reader", func(a *resources.Assignment) { a.ProjectID = projA1 }), 403},
		{"200 in a project, held", []string{"project:*:read"}, toGroup("project_reader", func(a *resources.Assignment) { a.ProjectID = projA1 }), 200},
		{"200 in a project, held there only", nil, func(w *accessWorld) {
			inOne := func(a *resources.Assignment) { a.ProjectID = projA1 }
			toGroup("project_reader", inOne)(w)
			w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "project_admin", ProjectID: projA1})
		}, 200},
		{"403 in a project, held in another", nil, func(w *accessWorld) {
			toGroup("project_reader", func(a *resources.Assignment) { a.ProjectID = projA2 })(w)
			w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "project_admin", ProjectID: projA1})
		}, 403},
		{"403 custom role", nil, func(w *accessWorld) {
			w.role(resources.Role{
				ID: "role-c-v1", Name: "c", Scope: resources.RoleScopeAccount, AccountID: acctA,
				Status: resources.StatusInactive, Permissions: []string{"account:user:delete"},
			})
			toGroup("role-c-v1", whole)(w)
		}, 403},
		{"200 custom role held", []string{"account:user:*"}, func(w *accessWorld) {
			w.role(resources.Role{
				ID: "role-c-v1", Name: "c", Scope: resources.RoleScopeAccount, AccountID: acctA,
				Permissions: []string{"account:user:delete"},
			})
			toGroup("role-c-v1", whole)(w)
		}, 200},
		{"403 role that is not there", []string{"account:*:*", "project:*:*", "resource:*:*"}, toGroup("role-gone-v1", func(a *resources.Assignment) {
			a.RoleScope = resources.RoleScopeAccount
		}), 403},
		{"403 one of two", []string{"project:*:read"}, func(w *accessWorld) {
			toGroup("project_reader", func(a *resources.Assignment) { a.ProjectID = projA1 })(w)
			toGroup("project_admin", func(a *resources.Assignment) { a.ProjectID = projA2 })(w)
		}, 403},
	}
}

func TestNobodyAddsAMemberToAGroupThatHoldsMore(t *testing.T) {
	for _, c := range holdings() {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			caller := manager(w, c.holds...)
			c.group(w)
			w.Expect(w.add(caller, groupA, ivan), c.want)
			w.Expect(w.add(caller, groupA, dan), c.want) // oneself too
			if w.isMember(groupA, ivan) != (c.want == 200) || w.isMember(groupA, dan) != (c.want == 200) {
				t.Error("the members are not what was answered")
			}
			w.Expect(w.add(caller, groupA, carol), 200) // who is there already is granted nothing
		})
	}
}

func TestAGrantByGroupDoesNotOutliveTheGranter(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{
		ID: "role-manager-v1", Name: "manager", Scope: resources.RoleScopeAccount, AccountID: acctA,
		Permissions: []string{"account:group:update", "account:*:read", "project:*:read"},
	})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "role-manager-v1", ExpiresAt: areatest.Start + hour})
	for id, end := range map[string]resources.Time{"group-ever-v1": 0, "group-longer-v1": areatest.Start + hour + 1, "group-shorter-v1": areatest.Start + hour} {
		w.group(acctA, id)
		w.Assign(resources.Assignment{
			AccountID: acctA, AssigneeID: id, AssigneeType: resources.AssigneeGroup, RoleID: "account_reader", ExpiresAt: end,
		})
	}
	w.Expect(w.add(areatest.As(acctA, dan), "group-ever-v1", ivan), 403)
	w.Expect(w.add(areatest.As(acctA, dan), "group-longer-v1", ivan), 403)
	w.Expect(w.add(areatest.As(acctA, dan), "group-shorter-v1", ivan), 200)
}

func TestAKeyGrantsWithinItsScopes(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "account_reader"})
	w.key(acctA, alice)
	w.Expect(w.add(keyCaller(acctA, alice, "write"), groupA, dan), 403, "more than you have")
	w.Expect(w.add(keyCaller(acctA, alice, "read"), groupA, dan), 403)
	w.Expect(w.add(keyCaller(acctA, alice, "read", "write"), groupA, dan), 200)
}

// TestTheActorIsAskedAgainInTheChange: policy said yes before the request came here, and
// the caller was demoted since.
func TestTheActorIsAskedAgainInTheChange(t *testing.T) {
	w := newWorld(t)
	admin := records.AssignmentID(resources.Assignment{
		AccountID: acctA, AssigneeID: alice, AssigneeType: resources.AssigneeUser, RoleID: resources.RoleAccountAdmin,
	})
	change(w, w.Collections.Assignments, admin, func(a *resources.Assignment) { a.Status = resources.StatusInactive })
	for route, body := range map[string]any{
		"project.create": `{"name":"n"}`, "project.update": `{"name":"n"}`, "project.delete": nil, "group.create": `{"name":"n"}`, "group.delete": nil, "group_member.add": nil, "group_member.remove": nil,
	} {
		for _, id := range []string{carol, absent} {
			got := w.call(route, areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1, "groupId", groupA, "userId", id), "", body)
			if got.Status != 403 {
				t.Errorf("%s: %d %s", route, got.Status, got.Text)
			}
		}
	}
	if w.Revision(acctA) != 0 {
		t.Error("a refused change moved the revision")
	}
}
