package access_test

import (
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

const admin = resources.RoleAccountAdmin

func TestAnAdminKeepsTheirOwnRole(t *testing.T) {
	w := newWorld(t)
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin})
	own := "own admin role"
	w.expect(w.revoke(admin, alice, ""), 403, own)
	w.expect(w.put("team_member", alice, "", object{"roleId": admin}), 403, own)
	w.expect(w.put("project_admin", alice, "projectId="+projA1, object{"roleId": admin}), 403, own)
	w.expect(w.put(admin, alice, "", object{"status": "INACTIVE"}), 403, own)
	w.holds(alice, "account_admin@ ACTIVE")
	t.Run("200 by another admin", func(t *testing.T) {
		w := w.in(t)
		got := w.call("role_assignment.put", as(acctA, dan), "accountId="+acctA+",roleId=team_member,assigneeId="+alice, "", object{"roleId": admin})
		w.expect(got, 200)
	})
}

func TestTheLastAdminStays(t *testing.T) {
	w := newWorld(t)
	// carol may change assignments, and is no admin: she is held by the last-admin rule only.
	w.role(resources.Role{ID: "role-mgr-v1", Name: "mgr", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"*:*:*"}})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "role-mgr-v1"})
	by := func(route, role, query string, body any) answer {
		return w.call(route, as(acctA, carol), "accountId="+acctA+",roleId="+role+",assigneeId="+alice, query, body)
	}
	refused := func() {
		t.Helper()
		w.expect(by("role_assignment.revoke", admin, "", nil), 403, "last organization admin")
		w.expect(by("role_assignment.put", "team_member", "", object{"roleId": admin}), 403, "last organization admin")
		w.expect(by("role_assignment.put", admin, "", object{"status": "INACTIVE"}), 403, "last organization admin")
		w.expect(by("role_assignment.put", admin, "", object{"expiresAt": (start + hour).String()}), 403, "last organization admin")
		w.holds(alice, "account_admin@ ACTIVE")
	}
	refused()
	// None of these is an effective admin.
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: ivan, RoleID: admin})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: admin, Status: "INACTIVE"})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin, ExpiresAt: start + hour})
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: admin, RoleScope: "PROJECT"})
	refused()
	w.assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: admin})
	w.expect(by("role_assignment.revoke", admin, "", nil), 200) // carol has it through her group
	got := w.call("role_assignment.revoke", as(acctA, carol), "accountId="+acctA+",roleId="+admin+",assigneeId="+groupA, "assigneeType=IAMGROUP", nil)
	w.expect(got, 403, "own admin role")
}

// TestTwoAdminsCannotRemoveEachOther guarantees that an account never loses its last
// admin, whichever of the two is first and by whichever way.
func TestTwoAdminsCannotRemoveEachOther(t *testing.T) {
	w := newWorld(t)
	w.assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin})
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		var wg sync.WaitGroup
		var answers [2]answer
		for i, pair := range [][2]string{{alice, dan}, {dan, alice}} {
			wg.Go(func() {
				params := "accountId=" + acctA + ",assigneeId=" + pair[1] + ",roleId="
				switch (round + i) % 3 {
				case 0:
					answers[i] = w.call("role_assignment.revoke", as(acctA, pair[0]), params+admin, "", nil)
				case 1:
					answers[i] = w.call("role_assignment.put", as(acctA, pair[0]), params+"team_member", "", object{"roleId": admin})
				default:
					answers[i] = w.call("role_assignment.put", as(acctA, pair[0]), params+admin, "", object{"status": "INACTIVE"})
				}
			})
		}
		wg.Wait()
		won, lost := 0, 1
		if answers[1].status == 200 {
			won, lost = 1, 0
		}
		if answers[won].status != 200 || answers[lost].status != 403 {
			t.Fatalf("round %d: %s and %s", round, answers[0].text, answers[1].text)
		}
		survivor, other := alice, dan
		if won == 1 {
			survivor, other = dan, alice
		}
		w.expect(w.call("role_assignment.put", as(acctA, survivor), "accountId="+acctA+",roleId="+admin+",assigneeId="+other, "", object{}), 200)
	}
}

// TestAReplacementIsNeverSeenHalfDone guarantees that a reader sees one role or the
// other, never both and never none.
func TestAReplacementIsNeverSeenHalfDone(t *testing.T) {
	w := newWorld(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			role := [...]string{"team_member", "account_reader"}
			got := w.call("role_assignment.put", as(acctA, alice), "accountId="+acctA+",roleId="+role[(i+1)%2]+",assigneeId="+carol, "", object{"roleId": role[i%2]})
			if got.status != 200 {
				t.Errorf("round %d: %s", i, got.text)
			}
		}
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		if held := w.held(carol); held != "team_member@ ACTIVE" && held != "account_reader@ ACTIVE" {
			t.Fatalf("carol holds %q", held)
		}
	}
}
