package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
)

// Run tests an engine against the contract. open returns an empty store with Schemas, and
// closes it when the test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"records", records()},
		{"duplicates", duplicates()},
		{"odd values", oddValues()},
		{"queries", queries()},
		{"paging", paging()},
		{"reads together", severalReads()},
		{"transactions", transactions()},
		{"views", views()},
		{"concurrency", concurrency()},
		{"revisions", revisions()},
		{"changes", changes()},
		{"whole stores", whole()},
		{"contexts", contexts()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, newEnv(t, open(t))) })
			}
		})
	}
}

type testCase struct {
	name string
	run  func(t *testing.T, e *env)
}

// caseTime is the deadline of a case.
const caseTime = time.Minute

// env is the store of one case, with helpers.
type env struct {
	store.Store
	ctx    context.Context
	things store.Collection[thing]
	links  store.Collection[link]
}

func newEnv(t *testing.T, s store.Store) *env {
	ctx, cancel := context.WithTimeout(t.Context(), caseTime)
	t.Cleanup(cancel)
	things, links := collections()
	return &env{Store: s, ctx: ctx, things: things, links: links}
}

// do runs a transaction that must succeed.
func (e *env) do(t *testing.T, fn func(tx store.Tx) error) {
	t.Helper()
	if err := e.Transact(e.ctx, fn); err != nil {
		t.Fatalf("Transact: %v", err)
	}
}

// see runs a view that must succeed.
func (e *env) see(t *testing.T, fn func(tx store.Tx) error) {
	t.Helper()
	if err := e.View(e.ctx, fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

// put adds things in one transaction.
func (e *env) put(t *testing.T, all ...thing) {
	t.Helper()
	e.do(t, func(tx store.Tx) error {
		for _, v := range all {
			if err := e.things.Insert(e.ctx, tx, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// get returns a thing, read in a view of its own.
func (e *env) get(t *testing.T, id string) (rec store.Record[thing], err error) {
	t.Helper()
	e.see(t, func(tx store.Tx) error {
		rec, err = e.things.Get(e.ctx, tx, id)
		return nil
	})
	return rec, err
}

// list returns the ids that a query finds in a view of its own.
func (e *env) list(t *testing.T, q store.Query) (out []string) {
	t.Helper()
	e.see(t, func(tx store.Tx) error {
		recs, err := e.things.Find(e.ctx, tx, q)
		out = ids(recs)
		return err
	})
	return out
}

// bump moves an account's revision in a transaction of its own.
func (e *env) bump(t *testing.T, accounts ...string) {
	t.Helper()
	e.do(t, func(tx store.Tx) error {
		for _, a := range accounts {
			if _, err := tx.Bump(e.ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *env) freshness(t *testing.T) store.Freshness {
	t.Helper()
	f, err := e.Freshness(e.ctx)
	if err != nil {
		t.Fatalf("Freshness: %v", err)
	}
	return f
}

func ids(recs []store.Record[thing]) []string {
	out := make([]string, len(recs))
	for i, rec := range recs {
		out[i] = rec.Value.ID
	}
	return out
}
