package mongodb_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
)

// BenchmarkChanges compares 16 writers with shared transactions against 16 with a commit for each change. It runs them
// in one process and in three, on sets of one node and of three. A change bumps an account, reads a record and writes
// it.
func BenchmarkChanges(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		for _, processes := range []int{1, 3} {
			for _, size := range []int{1, 16} {
				name := fmt.Sprintf("nodes %d/processes %d/groups of %d", nodes, processes, size)
				b.Run(name, func(b *testing.B) { changes(b, databaseOf(b, nodes), processes, size) })
			}
		}
	}
}

func changes(b *testing.B, url string, processes, size int) {
	const writers = 16
	notes := notes()
	var stores []*mongodb.Store
	for range processes {
		s := open(b, url, notes.Schema())
		s.LimitGroups(size)
		stores = append(stores, s)
	}
	for w := range writers {
		err := stores[0].Transact(b.Context(), func(tx store.Tx) error { return notes.Insert(b.Context(), tx, note{ID: fmt.Sprint(w)}) })
		if err != nil {
			b.Fatal(err)
		}
	}
	var next, failed atomic.Int64
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	var writing sync.WaitGroup
	for w := range writers {
		s, id := stores[w%processes], fmt.Sprint(w)
		writing.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				started := time.Now()
				err := s.Transact(b.Context(), func(tx store.Tx) error {
					if _, err := tx.Bump(b.Context(), id); err != nil {
						return err
					}
					rec, err := notes.Get(b.Context(), tx, id)
					if err != nil {
						return err
					}
					rec.Value.Count++
					return notes.Replace(b.Context(), tx, rec)
				})
				if err != nil {
					failed.Add(1)
				}
				took[i-1] = time.Since(started)
			}
		})
	}
	writing.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(int64(b.N)-failed.Load())/b.Elapsed().Seconds(), "changes/s")
	b.ReportMetric(float64(failed.Load()), "failed")
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[(b.N-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(0, "ns/op")
}
