package mongodb_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/test/must"
)

// note is a record of the tests here.
type note struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
}

func notes() store.Collection[note] {
	return store.NewCollection(store.Schema{
		Name: "notes", Columns: []store.Column{{Name: "account", Kind: store.KindString}},
		Indexes: []store.Index{{Name: "by_account", Columns: []string{"account"}}},
	}, func(n *note) string { return n.ID }, func(*note) []store.Value { return []store.Value{store.String("x")} })
}

var errRefused = errors.New("refused")

// grouped is a store whose changes are made to wait in line.
type grouped struct {
	*mongodb.Store
	t     *testing.T
	url   string
	notes store.Collection[note]
	sent  *recorder
}

func newGrouped(t *testing.T) *grouped {
	t.Helper()
	url, sent := database(t), &recorder{}
	s, err := mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: []*store.Schema{notes().Schema()}, Monitor: sent.monitor()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &grouped{Store: s, t: t, url: url, notes: notes(), sent: sent}
}

// inLine makes the calls while another change has the epoch: each gets in line behind the one
// before. It returns their answers after this change. while runs when all are in line.
func (g *grouped) inLine(while func(), calls ...func() error) []error {
	g.t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var calling sync.WaitGroup
	calling.Go(func() {
		if err := g.Transact(g.t.Context(), func(tx store.Tx) error {
			_, err := tx.Bump(g.t.Context(), "holder")
			close(held)
			<-release
			return err
		}); err != nil {
			g.t.Error(err)
		}
	})
	<-held
	answers := make([]error, len(calls))
	for i, call := range calls {
		calling.Go(func() { answers[i] = call() })
		g.waiting(i + 1)
	}
	g.sent.reset()
	while()
	close(release)
	calling.Wait()
	return answers
}

// waiting waits until so many changes are in line.
func (g *grouped) waiting(n int) {
	g.t.Helper()
	for end := time.Now().Add(10 * time.Second); g.Waiting() != n; runtime.Gosched() {
		if time.Now().After(end) {
			g.t.Fatalf("%d are in line, want %d", g.Waiting(), n)
		}
	}
}

// change bumps the account, adds a note of its name, and ends with the error.
func (g *grouped) change(account string, end error) func() error {
	return func() error {
		return g.Transact(g.t.Context(), func(tx store.Tx) error {
			return errors.Join(g.add(tx, account), end)
		})
	}
}

func (g *grouped) add(tx store.Tx, id string) error {
	if _, err := tx.Bump(g.t.Context(), id); err != nil {
		return err
	}
	return g.notes.Insert(g.t.Context(), tx, note{ID: id})
}

// refusal bumps the account and refuses.
func (g *grouped) refusal(account string) func() error {
	return func() error {
		return g.Transact(g.t.Context(), func(tx store.Tx) error {
			if _, err := tx.Bump(g.t.Context(), account); err != nil {
				return err
			}
			return errRefused
		})
	}
}

// increment bumps the account and counts in a note, which it makes.
func (g *grouped) increment(tx store.Tx, account, id string) error {
	if _, err := tx.Bump(g.t.Context(), account); err != nil {
		return err
	}
	rec, err := g.notes.Get(g.t.Context(), tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return g.notes.Insert(g.t.Context(), tx, note{ID: id, Count: 1})
	}
	if err != nil {
		return err
	}
	rec.Value.Count++
	return g.notes.Replace(g.t.Context(), tx, rec)
}

func (g *grouped) wantCount(id string, want int) {
	g.t.Helper()
	err := g.View(g.t.Context(), func(tx store.Tx) error {
		rec, err := g.notes.Get(g.t.Context(), tx, id)
		if err == nil && rec.Value.Count != want {
			g.t.Errorf("%s counts %d, want %d", id, rec.Value.Count, want)
		}
		return err
	})
	if err != nil {
		g.t.Errorf("%s: %v", id, err)
	}
}

// wantNotes says which notes are there, and no other of those named.
func (g *grouped) wantNotes(want map[string]bool) {
	g.t.Helper()
	for id, exists := range want {
		err := g.View(g.t.Context(), func(tx store.Tx) error { _, err := g.notes.Get(g.t.Context(), tx, id); return err })
		if exists != (err == nil) || !exists && !errors.Is(err, store.ErrNotFound) {
			g.t.Errorf("%s: %v, want it there: %v", id, err, exists)
		}
	}
}

func (g *grouped) epoch() int64 {
	g.t.Helper()
	f := must.Get(g.Freshness(g.t.Context()))(g.t)
	return f.Epoch
}

func (g *grouped) commits() (n int) {
	for _, c := range g.sent.all() {
		if c.name == "commitTransaction" {
			n++
		}
	}
	return n
}

func nothing() {}
