package harness

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// OnMongoDB says whether every gateway that a test starts is on a database of a real
// MongoDB replica set. With PORTCULLIS_TEST_STORE=mongodb it is one process without a
// freshness lease: each request reads how far the store is.
func OnMongoDB() bool { return os.Getenv("PORTCULLIS_TEST_STORE") != "" }

// OnReplicas reports whether it is three processes in turn on such a database and a Redis, with the default lease:
// PORTCULLIS_TEST_STORE=replicas.
func OnReplicas() bool { return os.Getenv("PORTCULLIS_TEST_STORE") == "replicas" }

// Rounds is how often a test tries something with a random fault: full times. It is less often at each change (make
// test), and on MongoDB, since each change waits for a disk and for leases.
func Rounds(full int) int {
	if OnMongoDB() {
		return full / 5
	}
	return tier.Amount(full, full/5)
}

// databaseOf is the database of a data folder, dropped when the test ends.
func databaseOf(t testing.TB, dataDir string) string {
	t.Helper()
	u := must.Get(url.Parse(servers.Mongo(t, 1).URL))(t)
	sum := sha256.Sum256([]byte(dataDir))
	u.Path = "/t" + hex.EncodeToString(sum[:12])
	return u.String()
}

// dropDatabase takes the database away when the test ends.
func dropDatabase(t testing.TB, address string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		client, err := mongo.Connect(options.Client().ApplyURI(address))
		if err != nil {
			t.Error(err)
			return
		}
		u, _ := url.Parse(address)
		_ = client.Database(u.Path[1:]).Drop(ctx) // a server that is gone has nothing left
		_ = client.Disconnect(ctx)
	})
}

// StoreArgs are the flags with which a gateway finds the store of its data folder.
func StoreArgs(t testing.TB, dataDir string, args []string) []string {
	t.Helper()
	if !OnMongoDB() || slices.Contains(args, "--mongo-url") {
		return nil
	}
	address := databaseOf(t, dataDir)
	dropDatabase(t, address)
	flags := []string{"--mongo-url", address}
	if !slices.Contains(args, "--master-key-file") {
		flags = append(flags, "--master-key-file", MasterKeyOf(t, dataDir))
	}
	return flags
}

// openStoreOf opens the store of a data folder that no gateway holds.
func openStoreOf(t testing.TB, dataDir string, c records.Collections) store.Store {
	t.Helper()
	if !OnMongoDB() {
		return openEmbedded(t, dataDir, c)
	}
	MasterKeyOf(t, dataDir) // a store without its key is none that a gateway takes
	return must.Get(mongodb.Open(context.Background(), mongodb.Options{URL: databaseOf(t, dataDir), Schemas: c.Schemas()}))(t)
}

func openEmbedded(t testing.TB, dataDir string, c records.Collections) store.Store {
	t.Helper()
	MasterKeyOf(t, dataDir)
	return must.Get(sqlite.Open(context.Background(), sqlite.Options{Dir: dataDir, Schemas: c.Schemas()}))(t)
}

// MasterKeyOf is the master key's file in a data folder, made where it is not there.
func MasterKeyOf(t testing.TB, dataDir string) string {
	t.Helper()
	path := filepath.Join(dataDir, "master.key")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		return path
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	must.Do(t, os.MkdirAll(dataDir, 0o700))
	must.Do(t, os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(raw)+"\n"), 0o600))
	return path
}
