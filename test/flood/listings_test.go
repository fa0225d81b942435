//go:build nightly

package flood_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

const (
	// listings are sent at once, again and again, beside questions on so many connections.
	listings, questioners = 40, 8
	listingTime           = 8 * time.Second
)

// TestListingOthersKeysHoldsNobodyUp sends a burst of listings of another user's keys beside new
// questions. Each follows a change of the caller's rights, so none is decided from the cache. It
// judges waits, so it has the machine to itself; the short form is
// TestNobodyComesToAGateInsideAView (cmd/portcullis).
func TestListingOthersKeysHoldsNobodyUp(t *testing.T) {
	apart(t)
	g := startGateway(t, size{cores: gatewayCore})
	alice := g.tokenOf(t, "--user", "user-alice-v1")
	kinds := map[string]*waits{"listing": {}, "question": {}, "change": {}}
	end := time.Now().Add(listingTime)
	var all sync.WaitGroup
	for i := range questioners {
		all.Go(func() {
			c := connect(t, g)
			for n := 0; time.Now().Before(end); n++ {
				kinds["question"].ask(t, c, g.question(fmt.Sprintf("user-cold-%d-%d-v1", i, n)))
			}
		})
	}
	burst := make([]*line, listings)
	for i := range burst {
		burst[i] = connect(t, g)
	}
	admin := connect(t, g)
	for n := 0; time.Now().Before(end); n++ {
		body := fmt.Sprintf(`{"expiresAt":%q}`, time.Now().Add(time.Hour+time.Duration(n)*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"))
		kinds["change"].ask(t, admin, request(alice, "PUT", "/api/v1/accounts/acct-demo-v1/roles/account_reader/assignments/user-alice-v1", body))
		var sent sync.WaitGroup
		for _, c := range burst {
			sent.Go(func() {
				kinds["listing"].ask(t, c, request(alice, "GET", "/api/v1/accounts/acct-demo-v1/users/user-bob-v1/keys", ""))
			})
		}
		sent.Wait()
	}
	all.Wait()
	for kind, w := range kinds {
		t.Logf("%s: %s", kind, w)
		if !w.answeredWithin(longest) {
			t.Errorf("%s: %s; want 200 within %s", kind, w, longest)
		}
	}
}
