package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// childDir, in the environment, makes this binary the process that is killed.
const childDir = "STORE_SQLITE_CHILD_DIR"

// entry and twin are a pair: a transaction writes both or none.
type entry struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
}

func pairCollections() (entries, twins store.Collection[entry]) {
	declare := func(name string) store.Collection[entry] {
		return store.NewCollection(store.Schema{
			Name:    name,
			Columns: []store.Column{{Name: "count", Kind: store.KindInt}},
			Indexes: []store.Index{{Name: "by_count", Columns: []string{"count"}}},
		}, func(e *entry) string { return e.ID }, func(e *entry) []store.Value { return []store.Value{store.Int(int64(e.Count))} })
	}
	return declare("entries"), declare("twins")
}

func openPairs(t *testing.T, dir string) *sqlite.Store {
	entries, twins := pairCollections()
	return open(t, dir, entries.Schema(), twins.Schema())
}

// writePair inserts a pair, counts another one up in both collections, and bumps.
func writePair(ctx context.Context, s *sqlite.Store, account, id string) error {
	entries, twins := pairCollections()
	return s.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
		for _, c := range []store.Collection[entry]{entries, twins} {
			if err := c.Insert(ctx, tx, entry{ID: id, Count: 1}); err != nil {
				return err
			}
			first, err := c.First(ctx, tx, store.Query{Index: "by_count"})
			if err != nil {
				return err
			}
			first.Value.Count++
			if err := c.Replace(ctx, tx, first); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestChildWritesUntilItIsKilled is the process that TestKilledAtAnyInstant kills.
func TestChildWritesUntilItIsKilled(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		return // only the child that TestKilledAtAnyInstant starts has work here
	}
	s := openPairs(t, dir)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				account, id := fmt.Sprint("account-", worker), fmt.Sprintf("%d-%d-%06d", os.Getpid(), worker, n)
				if err := writePair(t.Context(), s, account, id); err != nil {
					fmt.Printf("failed %v\n", err)
					return
				}
				fmt.Printf("ack %s\n", id)
			}
		})
	}
	wg.Wait()
}

func TestKilledAtAnyInstant(t *testing.T) {
	const rounds = 14
	dir := t.TempDir()
	var acked []string
	for round := range rounds {
		got := killed(t, dir, round%2 == 0)
		acked = append(acked, got...)
		verifyPairs(t, dir, acked)
	}
	if len(acked) < rounds {
		t.Errorf("only %d transactions were answered in all", len(acked))
	}
	integrity(t, dir)
}

// killed runs a child and kills it, by a number of answers or by the clock: the latter
// meets a start and a recovery too. It gives the ids that were answered.
func killed(t *testing.T, dir string, byAnswers bool) (acked []string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildWritesUntilItIsKilled$")
	child.Env = append(os.Environ(), childDir+"="+dir)
	out := must.Get(child.StdoutPipe())(t)
	must.Do(t, child.Start())
	after := 1 + rand.IntN(120)
	if !byAnswers {
		after = -1
		timer := time.AfterFunc(time.Duration(rand.IntN(300_000))*time.Microsecond, func() { _ = child.Process.Kill() })
		defer timer.Stop()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		id, ok := strings.CutPrefix(lines.Text(), "ack ")
		if !ok {
			t.Errorf("the child says %q", lines.Text())
			continue
		}
		if acked = append(acked, id); len(acked) == after {
			_ = child.Process.Kill()
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	return acked
}

// verifyPairs checks sums. Each transaction adds one pair, one to a count of both collections, and
// one to a revision and the epoch: a partial one shows in a sum.
func verifyPairs(t *testing.T, dir string, acked []string) {
	t.Helper()
	s := openPairs(t, dir)
	defer func() { _ = s.Close() }()
	entries, twins := pairCollections()
	must.Do(t, s.View(t.Context(), func(tx store.Tx) error {
		have := map[string]int{}
		list, err := entries.Find(t.Context(), tx, store.Query{Index: "by_count"})
		if err != nil {
			return err
		}
		sum := 0
		for _, e := range list {
			have[e.Value.ID] = e.Value.Count
			sum += e.Value.Count
		}
		for _, id := range acked {
			if have[id] == 0 {
				t.Errorf("%s was answered and is not there", id)
			}
		}
		recs, err := twins.Find(t.Context(), tx, store.Query{Index: "by_count"})
		if err != nil {
			return err
		}
		for _, e := range recs {
			if have[e.Value.ID] != e.Value.Count {
				t.Errorf("half of a pair: %s is %d and %d", e.Value.ID, have[e.Value.ID], e.Value.Count)
			}
		}
		return sums(t, tx, s, len(list), len(recs), sum)
	}))
}

func sums(t *testing.T, tx store.Tx, s *sqlite.Store, entries, twins, counted int) error {
	f, err := s.Freshness(t.Context())
	if err != nil {
		return err
	}
	var bumped int64
	for worker := range 4 {
		rev, err := tx.Revision(t.Context(), fmt.Sprint("account-", worker))
		if err != nil {
			return err
		}
		bumped += rev
	}
	if int64(entries) != f.Epoch || twins != entries || counted != 2*entries || bumped != f.Epoch {
		t.Errorf("epoch %d, revisions %d, entries %d, twins %d, counted %d", f.Epoch, bumped, entries, twins, counted)
	}
	return nil
}

func integrity(t *testing.T, dir string) {
	t.Helper()
	var said string
	db := raw(t, filepath.Join(dir, "portcullis.db"))
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Errorf("integrity: %s, %v", said, err)
	}
}
