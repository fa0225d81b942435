package main

import (
	"context"
	"math"
	"runtime"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// decisionReads bounds the readings of the decision log at once. Each holds a segment in memory.
	decisionReads = 2
	// databaseReads are under way at once on a database; its other connections are for changes
	// and for reads of the epoch.
	databaseReads = 64
	// searchReads bounds the snapshots of searches at once. A page takes as long as hundreds of other reads, and the
	// store's other connections stay free for these.
	searchReads = 2
	// databaseChanges are under way at once on a database, each until the replicas' lease is over. They are
	// committed in groups.
	databaseChanges = 32
	// databaseBatches are judged at once where facts come from a database: more than need a processor, since they wait
	// for it.
	databaseBatches = 8
	// anyNumber of requests waits for snapshots, changes and batches: --max-requests bounds them.
	anyNumber = math.MaxInt
)

// gates bound the work of cache misses, so that it leaves a processor to cache hits.
type gates struct {
	// work needs a processor: evaluations of policy, checks of signatures, and reads of the
	// embedded store.
	work *gate.Gate
	// reads are those of the cache of facts; searches are the snapshots of searches, of explanations, of previews and of
	// long reads of changes.
	reads, searches *gate.Gate
	// views are all snapshots but those of the cache, changes all transactions. Each takes longer than what goes through
	// work. The embedded store needs a processor for a snapshot, and makes one change at a time.
	views, changes *gate.Gate
	// batches are judged at once, previews among them by person.
	batches *gate.Gate
	// decisions are the readings of the decision log.
	decisions *gate.Gate
}

// processors are those that work takes at once, beside cache hits.
func processors() int { return max(1, runtime.GOMAXPROCS(0)*3/4) }

func newGates(s *config.Config) gates {
	g := gates{work: gate.New(processors(), s.Limits.Waiting), searches: gate.New(searchReads, s.Limits.Waiting), decisions: gate.New(decisionReads, s.Limits.Waiting)}
	if s.Store.MongoURL != "" {
		g.batches = gate.New(databaseBatches, anyNumber)
		g.reads = gate.New(databaseReads, s.Limits.Waiting)
		g.views, g.changes = gate.New(databaseReads, anyNumber), gate.New(databaseChanges, anyNumber)
		return g
	}
	g.reads, g.views, g.changes = g.work, gate.New(processors(), anyNumber), gate.New(1, anyNumber)
	g.batches = gate.New(processors(), anyNumber)
	return g
}

// allGates returns the gates by the names that metrics give them.
func (a *app) allGates() map[string]*gate.Gate {
	all := a.edge.Gates()
	all["work"], all["searches"], all["decisions"], all["views"], all["changes"], all["batches"] = a.gates.work, a.gates.searches, a.gates.decisions, a.gates.views, a.gates.changes, a.gates.batches
	if a.gates.reads != a.gates.work {
		all["reads"] = a.gates.reads
	}
	return all
}

// inTurns is a store with turns of accounts in snapshots and in changes. An engine lends its sessions in the order of
// the calls, and a handler does most of its work with one.
type inTurns struct {
	store.Store
	views, changes *gate.Gate
}

// View implements store.Store.
func (s inTurns) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.views.Enter(ctx, ""); err != nil {
		return err
	}
	defer s.views.Leave()
	return s.Store.View(ctx, fn)
}

// Transact implements store.Store.
func (s inTurns) Transact(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.changes.Enter(ctx, ""); err != nil {
		return err
	}
	defer s.changes.Leave()
	return s.Store.Transact(ctx, fn)
}
