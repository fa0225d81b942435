package areatest

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Start is the first reading of every clock: 2026-09-21T14:13:20.000Z.
const Start = resources.Time(1_790_000_000_000)

// policyDeadline is what a decision may take here: the machine may be busy, and time is not what is tested.
const policyDeadline = 5 * time.Second

// policy is the engine on the embedded tree, made once. The tree is not what is tested.
var policy = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.New(context.Background(), policies.Tree(), proof.LoadProven, engine.Options{Deadline: policyDeadline})
})

// Policy returns the engine on the embedded policy tree, which all tests of a package share.
func Policy(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// World is an area on an embedded store of its own.
type World struct {
	T *testing.T
	// Ctx is the context of each request.
	Ctx         context.Context //nolint:containedctx // a test may end it
	Dir         string
	Store       store.Store
	Collections records.Collections
	// Routes are the area's, and Area shapes its errors.
	Routes wire.Routes
	Area   string
	Clock  *Clock
}

// Clock is a clock in milliseconds that a test moves.
type Clock struct{ atomic.Int64 }

// Now returns the time on the clock.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.Load()) }

// New opens a store. The area's routes are the caller's to add.
func New(t *testing.T, area string) *World {
	t.Helper()
	w := &World{T: t, Ctx: t.Context(), Dir: t.TempDir(), Collections: records.NewCollections(), Area: area, Clock: &Clock{}}
	w.Clock.Store(int64(Start))
	var err error
	if w.Store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: w.Dir, Schemas: w.Collections.Schemas()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Store.Close() })
	return w
}

// In returns the same world for a sub-test.
func (w *World) In(t *testing.T) *World {
	sub := *w
	sub.T, sub.Ctx = t, t.Context()
	return &sub
}

// IDs returns a source of ids on the world's clock.
func (w *World) IDs() resources.IDs { return resources.IDs{Now: w.Clock.Now, Random: rand.Reader} }

// Idempotency returns what runs creating requests once.
func (w *World) Idempotency() *idempotency.Keeper {
	return idempotency.New(w.Store, w.Collections, w.Clock.Now)
}

// PageTokens returns page tokens with a key of no secrecy.
func PageTokens(t testing.TB) wire.PageTokens {
	t.Helper()
	tokens, err := wire.NewPageTokens([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// Write puts something into the store behind the handlers' back.
func (w *World) Write(fn func(ctx context.Context, tx store.Tx) error) {
	w.T.Helper()
	ctx := w.T.Context()
	if err := w.Store.Transact(ctx, func(tx store.Tx) error { return fn(ctx, tx) }); err != nil {
		w.T.Fatal(err)
	}
}

// Revision returns the account's revision.
func (w *World) Revision(account string) (revision int64) {
	w.T.Helper()
	ctx := w.T.Context()
	err := w.Store.View(ctx, func(tx store.Tx) (err error) {
		revision, err = tx.Revision(ctx, account)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return revision
}
