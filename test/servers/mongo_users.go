package servers

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// MongoWithUsers is a replica set of one with authentication. It gives a URL for each user: all of
// them have the role readWrite on the database, and nothing else.
func MongoWithUsers(t testing.TB, database string, users ...string) (urls []string) {
	t.Helper()
	path := NeedMongod(t)
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	set := &ReplicaSet{}
	host, err := set.startNode(path, "--replSet", "rs0", "--auth", "--keyFile", key)
	if err != nil {
		t.Fatal(err)
	}
	err = set.initiate(host, bson.D{
		{Key: "_id", Value: "rs0"},
		{Key: "members", Value: bson.A{bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: host}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Until there is a first user, the server takes one from its own machine.
	root, rest := "mongodb://"+host+"/?directConnection=true", "@"+host+"/"+database+"?replicaSet=rs0&authSource=admin"
	if err := until(func() error {
		return addUser(root, "root", bson.D{{Key: "role", Value: "root"}, {Key: "db", Value: "admin"}})
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range users {
		if err := addUser("mongodb://root:root"+rest, name, bson.D{{Key: "role", Value: "readWrite"}, {Key: "db", Value: database}}); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, "mongodb://"+name+":"+name+rest)
	}
	return urls
}

// addUser makes a user whose password is its name.
func addUser(url, name string, role bson.D) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	err = client.Database("admin").RunCommand(ctx, bson.D{
		{Key: "createUser", Value: name}, {Key: "pwd", Value: name}, {Key: "roles", Value: bson.A{role}},
	}).Err()
	if err != nil {
		return fmt.Errorf("the user %s: %w", name, err)
	}
	return nil
}
