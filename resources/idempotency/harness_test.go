package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	account = "acct-a-v1"
	owner   = "user-u-v1" // of everything that is made
	day     = 24 * time.Hour
)

var errBroken = errors.New("the commit is broken")

// keeperWorld is a keeper on a store of its own. Its handler makes a record with the body as its name,
// and counts its calls.
type keeperWorld struct {
	t      *testing.T
	store  store.Store
	c      records.Collections
	clock  atomic.Int64
	keeper *idempotency.Keeper
	make   wire.Handler

	read, made atomic.Int64
	// fails is what the next commits end with, after they changed something.
	fails error
	// once is the id of what is shown once, if it is.
	once string
	// during runs in the middle of a commit.
	during func()
}

func newWorld(t *testing.T) *keeperWorld {
	t.Helper()
	w := &keeperWorld{t: t, c: records.NewCollections()}
	w.clock.Store(1_790_000_000_000)
	opened := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: w.c.Schemas()}))(t)
	t.Cleanup(func() { _ = opened.Close() })
	w.store = opened
	w.use(opened)
	return w
}

// use makes the handler on that store.
func (w *keeperWorld) use(s store.Store) {
	w.keeper = idempotency.New(s, w.c, func() time.Time { return time.UnixMilli(w.clock.Load()) })
	w.make = w.keeper.Create("account.create", w.creating)
}

func (w *keeperWorld) pass(step time.Duration) { w.clock.Add(step.Milliseconds()) }

func (w *keeperWorld) creating(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	w.read.Add(1)
	if string(r.Body) == "bad" {
		return nil, resources.BadRequest(resources.Problem{Text: "is bad"})
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		n := w.made.Add(1)
		if _, err := tx.Bump(ctx, account); err != nil {
			return wire.Response{}, err
		}
		id := fmt.Sprintf("apikey-%d-v1", n)
		if err := w.c.APIKeys.Insert(ctx, tx, resources.APIKey{ID: id, AccountID: account, UserID: owner, Name: string(r.Body)}); err != nil {
			return wire.Response{}, err
		}
		if w.during != nil {
			w.during()
		}
		return wire.Response{Status: 201, Body: map[string]any{"id": id, "amount": 1.5, "text": "<&>"}, ShownOnce: w.once}, w.fails
	}, nil
}

// request is one by the user.
func request(user, key, path, query, body string) *wire.Request {
	return &wire.Request{
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: account}, Path: path, Query: query,
		Body: []byte(body), IdempotencyKey: key,
	}
}

func plain(key, body string) *wire.Request { return request(owner, key, "/p", "", body) }

// must gives the answer as it is sent.
func (w *keeperWorld) must(r *wire.Request) string {
	w.t.Helper()
	response := must.Get(w.make(w.t.Context(), r))(w.t)
	body, err := wire.Render(response.Body)
	if err != nil || response.Status != 201 {
		w.t.Fatalf("%d %v", response.Status, err)
	}
	return string(body)
}

// refused holds the request to a kind of error, and gives its message.
func (w *keeperWorld) refused(r *wire.Request, kind resources.Kind) string {
	w.t.Helper()
	_, err := w.make(w.t.Context(), r)
	if err == nil || resources.AsError(err).Kind != kind {
		w.t.Errorf("%v, want an error of kind %d", err, kind)
		return ""
	}
	return resources.AsError(err).Message
}

// count holds how many API keys and answers are stored.
func (w *keeperWorld) count(keys, answers int) {
	w.t.Helper()
	ctx := w.t.Context()
	err := w.store.View(ctx, func(tx store.Tx) error {
		query := store.Query{Index: records.ByUser, Equal: []store.Value{store.String(account), store.String(owner)}}
		made, err := w.c.APIKeys.Count(ctx, tx, query)
		if err != nil {
			return err
		}
		kept, err := w.c.Answers.Count(ctx, tx, store.Query{Index: records.ByExpiry})
		if made != keys || kept != answers {
			w.t.Errorf("%d keys and %d answers are stored, want %d and %d", made, kept, keys, answers)
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}
