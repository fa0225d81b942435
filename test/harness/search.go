package harness

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/test/secrets"
)

// SearchFiles finds no secret in any file of the data folder, and at least one file.
func (g *Gateway) SearchFiles(t testing.TB, secret []byte) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(g.DataDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files++
		if secrets.Shows(content, secret) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if OnMongoDB() {
		files += g.searchDatabase(t, secret)
	}
	if err != nil || files < 2 {
		t.Errorf("searched %d files: %v", files, err)
	}
}

// searchDatabase finds no secret in any document, and gives how many there are.
func (g *Gateway) searchDatabase(t testing.TB, secret []byte) (documents int) {
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
			if secrets.Shows(cursor.Current, secret) {
				t.Errorf("a document of %s holds the key", name)
			}
		}
		if err := errors.Join(cursor.Err(), cursor.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	return documents
}
