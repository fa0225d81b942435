package consistency_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// scenario runs a program for some time under certain conditions.
type scenario struct {
	name string
	run  func(t testing.TB, binary string, most time.Duration) (*world, *verdict)
	// edits change every program in this scenario: they make a rare event frequent.
	edits []edit
}

var (
	leasedReplicas = scenario{name: "leases", run: leased}
	strictReplicas = scenario{name: "no lease", run: strictly}
	forgedValues   = scenario{name: "forged values", run: forged}
	slowNetwork    = scenario{name: "slow network", run: slowly}
	splitPrimary   = scenario{name: "split primary", run: split}
	restoredBackup = scenario{name: "restored backup", run: restored}
	// manyChanges makes the cache forget all revisions at each change, as it does after more than 10,000 changes.
	manyChanges = scenario{name: "many changes", run: strictly, edits: []edit{{"store/rolecache/cache.go", "maxChanges = 10_000", "maxChanges = 0"}}}
)

var scenarios = []scenario{leasedReplicas, strictReplicas, forgedValues, slowNetwork, splitPrimary, restoredBackup, manyChanges}

// leased runs replicas with different leases on one node of MongoDB.
func leased(t testing.TB, binary string, most time.Duration) (*world, *verdict) {
	s := uneven()
	s.leases = []string{"50ms", "50ms", "800ms"}
	w := newWorld(t, binary, servers.Mongo(t, 1), s)
	return w, w.run(clients{writers: 6, readers: 6}, slices.Concat(redisFaults(), replicaFaults()[:1]), most, 0)
}

// strictly runs replicas without a lease: every question waits for a barrier begun after it arrived.
func strictly(t testing.TB, binary string, most time.Duration) (*world, *verdict) {
	s := uneven()
	s.leases = []string{"0s", "0s", "0s"}
	w := newWorld(t, binary, servers.Mongo(t, 1), s)
	return w, w.run(clients{writers: 6, readers: 10}, nil, most, 0)
}

// forged runs replicas while forge writes to Redis.
func forged(t testing.TB, binary string, most time.Duration) (*world, *verdict) {
	w := newWorld(t, binary, servers.Mongo(t, 1), uneven())
	faults := []fault{{"Redis written to by somebody else", forge}}
	return w, w.run(clients{writers: 6, readers: 6}, faults, most, 0)
}

// slowly runs replicas, one of them behind a slow connection to the database.
func slowly(t testing.TB, binary string, most time.Duration) (*world, *verdict) {
	set := servers.Mongo(t, 1)
	u := must.Get(url.Parse(set.URL))(t)
	proxy := newSlowProxy(t, u.Host)
	s := uneven()
	s.leases, s.duels = []string{"60ms", "60ms", "60ms"}, 0
	s.behind, s.readOnly = proxy.address, 1 // changes would take seconds on that replica
	w := newWorld(t, binary, set, s)
	late := fault{"answers of the database come late", func(_ *world, stop <-chan struct{}) {
		proxy.hold.Store(int64(115 * time.Millisecond)) // two answers are just below 250 ms
		sleep(4*time.Second, stop)
		proxy.hold.Store(0)
	}}
	return w, w.run(clients{writers: 4, readers: 8}, []fault{late}, most, 0)
}
