package access_test

import (
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/test/tier"
)

const admin = resources.RoleAccountAdmin

func TestAnAdminKeepsTheirOwnRole(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin})
	self := "own admin role"
	w.Expect(w.revoke(admin, alice, ""), 403, self)
	w.Expect(w.put("team_member", alice, "", object{"roleId": admin}), 403, self)
	w.Expect(w.put("project_admin", alice, "projectId="+projA1, object{"roleId": admin}), 403, self)
	w.Expect(w.put(admin, alice, "", object{"status": "INACTIVE"}), 403, self)
	w.holds(alice, "account_admin@ ACTIVE")
	t.Run("200 by another admin", func(t *testing.T) {
		w := w.sub(t)
		got := w.call("role_assignment.put", areatest.As(acctA, dan), "accountId="+acctA+",roleId=team_member,assigneeId="+alice, "", object{"roleId": admin})
		w.Expect(got, 200)
	})
}

func TestTheLastAdminStays(t *testing.T) {
	w := newWorld(t)
	// carol may change assignments, and is not an admin: only the last-admin rule holds her.
	w.role(resources.Role{ID: "role-mgr-v1", Name: "mgr", Scope: "ACCOUNT", AccountID: acctA, Permissions: []string{"*:*:*"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: "role-mgr-v1"})
	change := func(route, role, query string, body any) areatest.Answer {
		return w.call(route, areatest.As(acctA, carol), "accountId="+acctA+",roleId="+role+",assigneeId="+alice, query, body)
	}
	refused := func() {
		t.Helper()
		w.Expect(change("role_assignment.revoke", admin, "", nil), 403, "last organization admin")
		w.Expect(change("role_assignment.put", "team_member", "", object{"roleId": admin}), 403, "last organization admin")
		w.Expect(change("role_assignment.put", admin, "", object{"status": "INACTIVE"}), 403, "last organization admin")
		w.Expect(change("role_assignment.put", admin, "", object{"expiresAt": (areatest.Start + hour).String()}), 403, "last organization admin")
		w.holds(alice, "account_admin@ ACTIVE")
	}
	refused()
	// None of these is an effective admin.
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: ivan, RoleID: admin})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: bob, RoleID: admin, Status: "INACTIVE"})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin, ExpiresAt: areatest.Start + hour})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: carol, RoleID: admin, RoleScope: "PROJECT"})
	refused()
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: admin})
	w.Expect(change("role_assignment.revoke", admin, "", nil), 200) // carol has it through her group
	got := w.call("role_assignment.revoke", areatest.As(acctA, carol), "accountId="+acctA+",roleId="+admin+",assigneeId="+groupA, "assigneeType=IAMGROUP", nil)
	w.Expect(got, 403, "own admin role")
}

// TestTwoAdminsCannotRemoveEachOther guarantees that an account never loses its last
// admin, whichever of the two is first and by whichever way.
func TestTwoAdminsCannotRemoveEachOther(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: admin})
	for round := range tier.Amount(200, 20) {
		var wg sync.WaitGroup
		var answers [2]areatest.Answer
		for i, pair := range [][2]string{{alice, dan}, {dan, alice}} {
			wg.Go(func() {
				params := "accountId=" + acctA + ",assigneeId=" + pair[1] + ",roleId="
				switch (round + i) % 3 {
				case 0:
					answers[i] = w.call("role_assignment.revoke", areatest.As(acctA, pair[0]), params+admin, "", nil)
				case 1:
					answers[i] = w.call("role_assignment.put", areatest.As(acctA, pair[0]), params+"team_member", "", object{"roleId": admin})
				default:
					answers[i] = w.call("role_assignment.put", areatest.As(acctA, pair[0]), params+admin, "", object{"status": "INACTIVE"})
				}
			})
		}
		wg.Wait()
		won, lost := 0, 1
		if answers[1].Status == 200 {
			won, lost = 1, 0
		}
		if answers[won].Status != 200 || answers[lost].Status != 403 {
			t.Fatalf("round %d: %s and %s", round, answers[0].Text, answers[1].Text)
		}
		survivor, other := alice, dan
		if won == 1 {
			survivor, other = dan, alice
		}
		w.Expect(w.call("role_assignment.put", areatest.As(acctA, survivor), "accountId="+acctA+",roleId="+admin+",assigneeId="+other, "", object{}), 200)
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
			got := w.call("role_assignment.put", areatest.As(acctA, alice), "accountId="+acctA+",roleId="+role[(i+1)%2]+",assigneeId="+carol, "", object{"roleId": role[i%2]})
			if got.Status != 200 {
				t.Errorf("round %d: %s", i, got.Text)
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
