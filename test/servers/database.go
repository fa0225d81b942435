package servers

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Database is the URL of a new database in the set, which is dropped when the test ends.
func (r *ReplicaSet) Database(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	name := "t" + strings.ToLower(rand.Text()[:16])
	u.Path = "/" + name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
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
