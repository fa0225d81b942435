package api_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// onMongoDB says whether every gateway that a test starts is on a database of a real
// MongoDB replica set. With PORTCULLIS_TEST_STORE=mongodb it is one process without a
// freshness lease: each request reads how far the store is.
func onMongoDB() bool { return os.Getenv("PORTCULLIS_TEST_STORE") != "" }

// onReplicas says whether it is three processes on such a database and a Redis, which take
// turns, and have the lease that is the default: PORTCULLIS_TEST_STORE=replicas.
func onReplicas() bool { return os.Getenv("PORTCULLIS_TEST_STORE") == "replicas" }

// rounds is how often something is tried that may go wrong by chance only: full times, or
// less often on MongoDB, where each change waits for a disk and for leases.
func rounds(full int) int {
	if onMongoDB() {
		return full / 5
	}
	return full
}

// databaseOf is the database of a data folder, dropped when the test ends.
func databaseOf(t testing.TB, dataDir string) string {
	t.Helper()
	u, err := url.Parse(servers.Mongo(t, 1).URL)
	if err != nil {
		t.Fatal(err)
	}
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

// searchDatabase finds no secret in any document, and gives how many there are.
func (g *gatewayProcess) searchDatabase(t testing.TB, secret []byte) (documents int) {
	t.Helper()
	ctx := context.Background()
	address := databaseOf(t, g.DataDir)
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(ctx) }()
	u, _ := url.Parse(address)
	db := client.Database(u.Path[1:])
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		cursor, err := db.Collection(name).Find(ctx, bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		for cursor.Next(ctx) {
			documents++
			if showsSecret(cursor.Current, secret) {
				t.Errorf("a document of %s holds the key", name)
			}
		}
		if err := errors.Join(cursor.Err(), cursor.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	return documents
}

// storeArgs are the flags with which a gateway finds the store of its data folder.
func storeArgs(t testing.TB, dataDir string, args []string) []string {
	t.Helper()
	if !onMongoDB() || slices.Contains(args, "--mongo-url") {
		return nil
	}
	address := databaseOf(t, dataDir)
	dropDatabase(t, address)
	flags := []string{"--mongo-url", address}
	if !slices.Contains(args, "--master-key-file") {
		flags = append(flags, "--master-key-file", masterKeyOf(t, dataDir))
	}
	return flags
}

// openStoreOf opens the store of a data folder that no gateway holds.
func openStoreOf(t testing.TB, dataDir string, c records.Collections) store.Store {
	t.Helper()
	masterKeyOf(t, dataDir) // a store without its key is none that a gateway takes
	var s store.Store
	var err error
	if onMongoDB() {
		s, err = mongodb.Open(context.Background(), mongodb.Options{URL: databaseOf(t, dataDir), Schemas: c.Schemas()})
	} else {
		s, err = sqlite.Open(context.Background(), sqlite.Options{Dir: dataDir, Schemas: c.Schemas()})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// masterKeyOf is the master key's file in a data folder, made where it is not there.
func masterKeyOf(t testing.TB, dataDir string) string {
	t.Helper()
	path := filepath.Join(dataDir, "master.key")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		return path
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(raw)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
