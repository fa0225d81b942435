package access_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

func TestGroupIsMadeAndRead(t *testing.T) {
	w := newWorld(t)
	rev := w.Revision(acctA)
	got := w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":" Ops ","description":"who runs it"}`)
	id := got.Str("group.id")
	w.Expect(got, 201, fmt.Sprintf(`{"group":{"id":"%s","account_id":"acct-a-v1","name":"Ops","description":"who runs it",`+
		`"created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`, id))
	if !strings.HasPrefix(id, "group-") || !strings.HasSuffix(id, "-v1") || w.Revision(acctA) != rev+1 {
		t.Errorf("id %q, revision %d after %d", id, w.Revision(acctA), rev)
	}
	read := w.call("group.get", areatest.As(acctA, alice), pathOf(acctA, "groupId", id), "", nil)
	if read.Status != 200 || read.Text != got.Text {
		t.Errorf("read as %d %s", read.Status, read.Text)
	}
	w.Expect(w.call("group.create", areatest.As(acctB, bea), pathOf(acctB), "", `{"name":"Ops"}`), 201)
}

func TestGroupIsRefused(t *testing.T) {
	w := newWorld(t)
	for name, body := range map[string]string{
		"name missing":     `{}`,
		"name blank":       `{"name":"  "}`,
		"name long":        `{"name":"` + strings.Repeat("n", 256) + `"}`,
		"description long": `{"name":"n","description":"` + strings.Repeat("ö", 1025) + `"}`,
		"description":      `{"name":"n","description":7}`,
		"unknown field":    `{"name":"n","account_id":"acct-b-v1"}`,
		"two names":        `{"name":"n","name":"m"}`,
		"no body":          ``,
	} {
		t.Run("400 "+name, func(t *testing.T) {
			w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", body), 400)
		})
	}
	w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "q=1", `{"name":"","description":1,"x":1}`), 400,
		"q: ", "name: ", "description: ", "x: ")
	w.Expect(w.call("group.create", areatest.As(acctA, carol), pathOf(acctA), "", `{"name":"n"}`), 403)
	w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"group-a-v1"}`), 409)
	w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"`+strings.Repeat("ö", 255)+`","description":"`+strings.Repeat("ö", 1024)+`"}`), 201)
}

func TestTwoGroupsOfOneNameAtOnce(t *testing.T) {
	w := newWorld(t)
	oneOfTwo(t, atOnce(func(int) areatest.Answer {
		return w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n"}`)
	}))
}

func TestGroupsAreListedByToken(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(1)
	w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"a-later"}`), 201)
	first := w.call("group.list", areatest.As(acctA, alice), pathOf(acctA), "page_size=1", nil)
	w.Expect(first, 200, `{"groups":[{"id":"group-a-v1",`, `"total_count":2`)
	second := w.call("group.list", areatest.As(acctA, alice), pathOf(acctA), "page_size=1&page_token="+url.QueryEscape(first.Str("next_page_token")), nil)
	w.Expect(second, 200, `"name":"a-later"`, `"total_count":2,"next_page_token":""`)
	w.Expect(w.call("group.list", areatest.As(acctB, bea), pathOf(acctB), "page_token="+url.QueryEscape(first.Str("next_page_token")), nil), 400, "page_token: ")
	w.Expect(w.call("group.list", areatest.As(absent, alice), pathOf(absent), "", nil), 200, `{"groups":[],"total_count":0,"next_page_token":""}`)
	w.Expect(w.call("group.list", areatest.As(acctA, alice), pathOf(acctA), "page_token="+first.Str("next_page_token")+"&name=x", nil), 400, "name: ")
}

func TestGroupIsDeletedWithMembersAndAssignments(t *testing.T) {
	w := newWorld(t)
	held := resources.Assignment{AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "account_reader"}
	inProject := resources.Assignment{
		AccountID: acctA, AssigneeID: groupA, AssigneeType: resources.AssigneeGroup, RoleID: "project_reader", ProjectID: projA1,
	}
	namesake := resources.Assignment{AccountID: acctA, AssigneeID: groupA, RoleID: "team_member"} // a user of the same id
	for _, a := range []resources.Assignment{held, inProject, namesake} {
		w.Assign(a)
	}
	w.Expect(w.call("group.get", areatest.As(acctA, carol), pathOf(acctA, "groupId", groupA), "", nil), 200)
	rev := w.Revision(acctA)
	w.Expect(w.call("group.delete", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA), "", nil), 200, `{"success":true,"message":"`)
	_, member := lookUp(w, w.Collections.Members, records.MemberID(groupA, carol))
	if member || assigned(w, held) || assigned(w, inProject) || !assigned(w, namesake) || w.Revision(acctA) != rev+1 {
		t.Errorf("member %v, assignments %v %v, the user's %v, revision %d after %d",
			member, assigned(w, held), assigned(w, inProject), assigned(w, namesake), w.Revision(acctA), rev)
	}
	w.Expect(w.call("group.delete", areatest.As(acctA, alice), pathOf(acctA, "groupId", groupA), "", nil), 404)
	if _, ok := lookUp(w, w.Collections.Members, records.MemberID(groupB, bea)); !ok {
		t.Error("another group lost a member")
	}
}

// adminsByGroup makes an account whose admins are those of its group only.
func adminsByGroup(t *testing.T, members ...string) *accessWorld {
	t.Helper()
	w := newWorld(t)
	w.group(acctA, "group-admins-v1", members...)
	w.Assign(resources.Assignment{
		AccountID: acctA, AssigneeID: "group-admins-v1", AssigneeType: resources.AssigneeGroup, RoleID: resources.RoleAccountAdmin,
	})
	w.Write(func(ctx context.Context, tx store.Tx) error {
		a := resources.Assignment{AccountID: acctA, AssigneeID: alice, AssigneeType: resources.AssigneeUser, RoleID: resources.RoleAccountAdmin}
		rec, err := w.Collections.Assignments.Get(ctx, tx, records.AssignmentID(a))
		if err != nil {
			return err
		}
		return w.Collections.Assignments.Delete(ctx, tx, rec)
	})
	return w
}

func TestGroupOfTheLastAdminsIsKept(t *testing.T) {
	manager := resources.Role{
		ID: "role-manager-v1", Name: "manager", Scope: resources.RoleScopeAccount, AccountID: acctA,
		Permissions: []string{"account:group:*"},
	}
	t.Run("403 the last admins", func(t *testing.T) {
		w := adminsByGroup(t, carol)
		w.role(manager)
		w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: manager.ID})
		w.Expect(w.call("group.delete", areatest.As(acctA, dan), pathOf(acctA, "groupId", "group-admins-v1"), "", nil), 403, "last organization admin")
		w.Expect(w.call("group_member.remove", areatest.As(acctA, dan), pathOf(acctA, "groupId", "group-admins-v1", "userId", carol), "", nil), 403, "last organization admin")
		if _, ok := lookUp(w, w.Collections.Groups, "group-admins-v1"); !ok {
			t.Error("the group is gone")
		}
		if _, ok := lookUp(w, w.Collections.Members, records.MemberID("group-admins-v1", carol)); !ok {
			t.Error("the member is gone")
		}
	})
	t.Run("403 the caller's own admin role", func(t *testing.T) {
		w := adminsByGroup(t, carol)
		w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: resources.RoleAccountAdmin})
		w.Expect(w.call("group.delete", areatest.As(acctA, carol), pathOf(acctA, "groupId", "group-admins-v1"), "", nil), 403, "own admin role")
		w.Expect(w.call("group_member.remove", areatest.As(acctA, carol), pathOf(acctA, "groupId", "group-admins-v1", "userId", carol), "", nil), 403, "own admin role")
		w.Expect(w.call("group_member.remove", areatest.As(acctA, dan), pathOf(acctA, "groupId", "group-admins-v1", "userId", carol), "", nil), 200)
		w.Expect(w.call("group.delete", areatest.As(acctA, dan), pathOf(acctA, "groupId", "group-admins-v1"), "", nil), 200)
	})
	t.Run("two admins at once remove each other", func(t *testing.T) {
		w := adminsByGroup(t, carol, dan)
		caller := [2]string{carol, dan}
		got := atOnce(func(i int) areatest.Answer {
			return w.call("group_member.remove", areatest.As(acctA, caller[i]), pathOf(acctA, "groupId", "group-admins-v1", "userId", caller[1-i]), "", nil)
		})
		if got != [2]int{200, 403} && got != [2]int{403, 200} {
			t.Errorf("statuses %v", got)
		}
	})
}

func TestForeignGroupIsAnsweredLikeAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	for _, route := range []string{"group.get", "group.delete", "group_member.list", "group_member.add", "group_member.remove"} {
		for _, member := range []string{alice, bea, absent} {
			ask := func(group string) areatest.Answer {
				return w.call(route, areatest.As(acctA, alice), pathOf(acctA, "groupId", group, "userId", member), "", nil)
			}
			never := ask(absent)
			w.Expect(never, 404, "no such group")
			same(t, route, never, ask(groupB))
		}
	}
	if _, ok := lookUp(w, w.Collections.Groups, groupB); !ok {
		t.Error("the foreign group is gone")
	}
}

// TestRefusalInTheTransactionIsInTheWordsOfTheGateway: a caller can't tell which of them refused.
func TestRefusalInTheTransactionIsInTheWordsOfTheGateway(t *testing.T) {
	w := newWorld(t)
	got := w.call("group.create", areatest.As(acctA, carol), "accountId="+acctA, "", object{"name": "g"})
	w.Expect(got, 403, `"message":"`+resources.Denied("").Message+`","details":["no active role of the user grants account:group:create`)
}
