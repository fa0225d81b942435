package faults_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/tier"
)

const (
	followWriters = 4
	followChanges = 10 // of each writer
)

// TestFollowerMissesNothing has writers change an account at three replicas. One replica is killed and started again,
// one sleeps, and a follower asks one after the other. It sees each answered change once, in the order of the whole
// list.
func TestFollowerMissesNothing(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	r := harness.StartReplicas(t, 3)
	var gateways [3]atomic.Pointer[harness.Gateway]
	for i, g := range r.All {
		gateways[i].Store(g)
	}
	url := func(n int, rest string) string {
		return gateways[n%3].Load().URL + "/api/v1/accounts/" + r.Account + rest
	}
	answered := newNames()
	var writers, faults sync.WaitGroup
	for w := range followWriters {
		writers.Go(func() {
			for i := range followChanges {
				name := fmt.Sprintf("group-%d-%d", w, i)
				for try := w + i; ; try++ { // until a replica answers
					got, err := harness.TryCall("POST", url(try, "/groups"), r.AdminToken, fmt.Sprintf(`{"name":%q}`, name))
					if err == nil && got.Status == 201 {
						answered.add(fmt.Sprint(harness.At(got.Body, "group", "id")))
					}
					if err == nil && (got.Status == 201 || got.Status == 409) { // 409: made, and not answered
						break
					}
				}
			}
		})
	}
	faults.Go(func() {
		for range 2 {
			resume := pauseProcess(t, gateways[1].Load())
			<-time.After(2 * time.Second)
			resume()
			gateways[2].Load().Kill(t)
			gateways[2].Store(harness.Launch(t, gateways[2].Load().DataDir, r.Flags...))
		}
	})
	var over atomic.Bool
	followed := make(chan []string, 1)
	go func() { followed <- follow(t, url, r.AdminToken, &over) }()
	writers.Wait()
	faults.Wait()
	over.Store(true)
	saw := <-followed
	seen := map[string]int{}
	for _, id := range saw {
		seen[id]++
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was seen %d times", id, n)
		}
	}
	for _, id := range answered.all() {
		if seen[id] == 0 {
			t.Errorf("%s was answered and not seen", id)
		}
	}
	t.Logf("%d changes were answered, %d were seen", len(answered.all()), len(saw))
}

// follow asks one replica after the other, and gives the subjects of all changes that it saw. Once
// the writers are done it ends with the first answer without any.
func follow(t *testing.T, url func(n int, rest string) string, token string, over *atomic.Bool) (saw []string) {
	after := ""
	for n := 0; ; n++ {
		last := over.Load()
		got, err := harness.TryCall("GET", url(n, "/changes?page_size=7&wait=1s&after="+after), token, "")
		if err != nil || got.Undecided() || got.Status == 503 {
			continue // a replica that is gone or asleep
		}
		if got.Status != 200 {
			t.Errorf("change.list after %s: %d %s", after, got.Status, got.Raw)
			return saw
		}
		list, _ := got.Body["changes"].([]any)
		for _, c := range list {
			after = fmt.Sprint(harness.At(c, "id"))
			saw = append(saw, fmt.Sprint(harness.At(c, "subject", "id")))
		}
		if last && len(list) == 0 {
			return saw
		}
	}
}

// names are texts that several goroutines add.
type names struct {
	mu   sync.Mutex
	list []string
}

func newNames() *names { return &names{} }

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.list...)
}
