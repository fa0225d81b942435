package mongodb_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// database is an empty database of the server under test, dropped when the test ends.
func database(t testing.TB) string {
	t.Helper()
	return databaseOf(t, 1)
}

// databaseOf is one of the shared set with so many nodes.
func databaseOf(t testing.TB, nodes int) string {
	t.Helper()
	return servers.Mongo(t, nodes).Database(t)
}

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

func open(t testing.TB, url string, schemas ...*store.Schema) *mongodb.Store {
	t.Helper()
	s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: schemas}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, database(t), storetest.Schemas()...) })
}

// TestViewCommits: the session of a commit is ended right before it is sent, as a new primary
// does with those of the old one.
func TestViewCommits(t *testing.T) {
	storetest.RunViewCommits(t, func(t *testing.T) (store.Store, func(int)) {
		url := database(t)
		client := must.Get(mongo.Connect(options.Client().ApplyURI(url)))(t)
		t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
		var remaining atomic.Int64
		monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName != "commitTransaction" || remaining.Add(-1) < 0 {
				return
			}
			end := bson.D{{Key: "killSessions", Value: bson.A{e.Command.Lookup("lsid")}}}
			if err := client.Database("admin").RunCommand(context.Background(), end).Err(); err != nil {
				t.Error(err)
			}
		}}
		s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: storetest.Schemas(), Monitor: monitor}))(t)
		t.Cleanup(func() { _ = s.Close() })
		return s, func(n int) { remaining.Store(int64(n)) }
	})
}

// TestInspectChangesNothing: a database without a store is refused and stays empty; in one with a store all can
// be read, and an index that is missing stays so.
func TestInspectChangesNothing(t *testing.T) {
	url := database(t)
	where := must.Get(connstring.ParseAndValidate(url))(t)
	client := must.Get(mongo.Connect(options.Client().ApplyURI(url)))(t)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	db := client.Database(where.Database)
	inspect := mongodb.Options{URL: url, Schemas: []*store.Schema{notes().Schema()}, Maintenance: true, Inspect: true}
	if _, err := mongodb.Open(t.Context(), inspect); !errors.Is(err, mongodb.ErrNoStore) {
		t.Errorf("without a store: %v", err)
	}
	if names, err := db.ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) > 0 {
		t.Errorf("made %v, %v", names, err)
	}
	g := open(t, url, notes().Schema())
	must.Do(t, g.Transact(t.Context(), func(tx store.Tx) error { return notes().Insert(t.Context(), tx, note{ID: "a"}) }))
	collection := db.Collection(notes().Schema().Name)
	must.Do(t, collection.Indexes().DropAll(t.Context()))
	s := must.Get(mongodb.Open(t.Context(), inspect))(t)
	if err := s.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.List(t.Context(), notes().Schema(), "", 10)
		if len(rows) != 1 {
			t.Errorf("read %v", rows)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if indexes, err := collection.Indexes().ListSpecifications(t.Context()); err != nil || len(indexes) != 1 {
		t.Errorf("indexes %v, %v", indexes, err)
	}
}

func TestReopen(t *testing.T) {
	url := database(t)
	storetest.RunReopen(t, false, func(t *testing.T) store.Store { return open(t, url, storetest.Schemas()...) },
		func(t *testing.T, s store.Store) store.Store {
			must.Do(t, s.Close())
			return open(t, url, storetest.Schemas()...)
		})
}
