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

	"github.com/portcullis-authz/portcullis/test/must"
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
	client := must.Get(mongo.Connect(options.Client().ApplyURI(address)))(t)
	defer func() { _ = client.Disconnect(ctx) }()
	u, _ := url.Parse(address)
	db := client.Database(u.Path[1:])
	names := must.Get(db.ListCollectionNames(ctx, bson.D{}))(t)
	for _, name := range names {
		cursor := must.Get(db.Collection(name).Find(ctx, bson.D{}))(t)
		for cursor.Next(ctx) {
			documents++
			if secrets.Shows(cursor.Current, secret) {
				t.Errorf("a document of %s holds the key", name)
			}
		}
		must.Do(t, errors.Join(cursor.Err(), cursor.Close(ctx)))
	}
	return documents
}
