package console_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestASuspendedUserIsOutOnEachReplica guarantees on MongoDB and Redis that from the answer to a suspension on no replica
// takes a cookie from before, whichever replica signed the user in and whichever suspended them. Every other user is
// active again at once, so that the end of the session alone keeps the cookie out.
func TestASuspendedUserIsOutOnEachReplica(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 2, "--console-listen", "127.0.0.1:0")
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for n := range 20 {
		user := fmt.Sprintf("user-browsing%d-v1", n)
		r.AddUser(t, user)
		session := signIn(t, r.All[random.IntN(2)], user).session()
		var browsers []*browser
		for _, g := range r.All {
			b := newBrowser(t, g).withSession(session)
			if got := b.get("/ask"); got.Status != http.StatusOK {
				t.Fatalf("%s at %s: %d", user, g.ConsoleURL, got.Status)
			}
			browsers = append(browsers, b)
		}
		random.Shuffle(2, func(i, j int) { browsers[i], browsers[j] = browsers[j], browsers[i] })
		for _, status := range []string{"SUSPENDED", "ACTIVE"}[:1+n%2] {
			address := r.All[random.IntN(2)].URL + "/api/v1/users/" + user
			if got := harness.Call(t, "PUT", address, r.AdminToken, `{"status": "`+status+`"}`, "x-account-id", r.Account); got.Status != http.StatusOK {
				t.Fatalf("%s: %d %s", status, got.Status, got.Raw)
			}
		}
		for _, b := range browsers {
			if got := b.get("/ask"); got.Status != http.StatusSeeOther || got.says(user) {
				t.Errorf("%s was suspended, and %s answers %d", user, b.base, got.Status)
			}
		}
	}
}
