package mongodb_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
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
	u, err := url.Parse(servers.Mongo(t, nodes).URL)
	if err != nil {
		t.Fatal(err)
	}
	name := "t" + strings.ToLower(rand.Text()[:16])
	u.Path = "/" + name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		client, err := mongo.Connect(options.Client().ApplyURI(u.String()))
		if err != nil {
			t.Error(err)
			return
		}
		if err := client.Database(name).Drop(ctx); err != nil {
			t.Error(err)
		}
		_ = client.Disconnect(ctx)
	})
	return u.String()
}

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

func open(t testing.TB, url string, schemas ...*store.Schema) *mongodb.Store {
	t.Helper()
	s, err := mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: schemas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, database(t), storetest.Schemas()...) })
}

func TestReopen(t *testing.T) {
	url := database(t)
	storetest.RunReopen(t, false, func(t *testing.T) store.Store { return open(t, url, storetest.Schemas()...) },
		func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, url, storetest.Schemas()...)
		})
}
