package api_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestTwoAdminsDemotingEachOtherLeaveOne has two admins take the admin role from each
// other at the same time, by every way that HTTP offers, and finds one left each time.
func TestTwoAdminsDemotingEachOtherLeaveOne(t *testing.T) {
	t.Parallel()
	const (
		account = "acct-duel-v1"
		one     = "user-one-v1"
		two     = "user-two-v1"
		keeper  = "user-keeper-v1"
	)
	dir := t.TempDir()
	harness.Seed(t, dir, account, "proj-duel-v1",
		harness.Member{ID: one, Roles: []string{"account_admin"}}, harness.Member{ID: two, Roles: []string{"account_admin"}}, harness.Member{ID: keeper})
	g := harness.StartIn(t, dir)
	tokens := map[string]string{one: g.UserToken(t, one), two: g.UserToken(t, two)}
	url := func(role, user string) string {
		return fmt.Sprintf("%s/api/v1/accounts/%s/roles/%s/assignments/%s", g.URL, account, role, user)
	}
	ways := []func(victim string) (method, target, body string){
		func(v string) (string, string, string) { return "DELETE", url("account_admin", v), "" },
		func(v string) (string, string, string) {
			return "PUT", url("team_member", v), `{"roleId":"account_admin"}`
		},
		func(v string) (string, string, string) {
			return "PUT", url("account_admin", v), `{"status":"INACTIVE"}`
		},
	}
	for round := range harness.Rounds(200) {
		way := ways[round%len(ways)]
		statuses := map[string]int{}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for attacker, victim := range map[string]string{one: two, two: one} {
			wait.Go(func() {
				method, target, body := way(victim)
				r := harness.Call(t, method, target, tokens[attacker], body)
				mu.Lock()
				defer mu.Unlock()
				statuses[attacker] = r.Status
			})
		}
		wait.Wait()
		winner, loser := one, two
		if statuses[two] == 200 {
			winner, loser = two, one
		}
		if statuses[winner] != 200 || statuses[loser] != 403 {
			t.Fatalf("round %d: answers %v; one has to win and the other to be refused", round, statuses)
		}
		// The winner is an admin still, and makes the other one an admin again.
		if r := harness.Call(t, "PUT", url("account_admin", loser), tokens[winner], `{}`); r.Status != 200 {
			t.Fatalf("round %d: no admin is left: %d %s", round, r.Status, r.Raw)
		}
		harness.Call(t, "DELETE", url("team_member", loser), tokens[winner], "")
	}
}
