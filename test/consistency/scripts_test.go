package consistency_test

import (
	"context"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// certainly changes the cell, and repeats that until a change is answered.
func (c *client) certainly(cl *cell, r *replica) {
	c.w.t.Helper()
	for end := time.Now().Add(time.Minute); !c.change(cl, r); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			c.w.t.Fatalf("%s can't be changed:\n%s", cl.id, r.said())
		}
	}
}

func (c *client) everywhere(cl *cell) {
	for _, r := range c.w.replicas {
		c.ask(cl, r, false)
		c.ask(cl, r, true)
	}
}

// split makes a primary take a change alone, and then lose it: another change gets its revision. Replicas must not
// cache values read from that primary meanwhile, of a user or of a shared role. Answered changes must not be lost.
func split(t testing.TB, binary string, _ time.Duration) (*world, *verdict) {
	w := newWorld(t, binary, servers.Mongo(t, 3), shape{leases: []string{"3s", "3s", "3s"}, accounts: 1, perKind: 2})
	c, lost, kept := newClient(w), w.cellOf("assignment"), w.cellOf("role")
	c.certainly(kept, w.replicas[0])
	w.mongo.AwaitPrimary(t)
	primary := w.mongo.Primary(t)
	majority := w.mongo.Others(primary)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) { // until the replica has cached the admin's rights
		a, err := c.send(w.replicas[0], lost.byAdmin("GET", "/roles", ""), false)
		if err == nil && a.status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the admin is refused: %d %s %v", a.status, a.body, err)
		}
	}
	before := w.revisionAt(primary, lost)
	c.ask(lost, w.replicas[1], false) // the replica caches the caller, and nothing of kept
	for _, n := range majority {
		w.mongo.KillNode(n)
	}
	var change sync.WaitGroup
	change.Go(func() { newClient(w).change(lost, w.replicas[0]) })
	w.awaitAt(primary, lost, before)
	for range 20 {
		c.ask(kept, w.replicas[1], false) // the first question about it there
	}
	change.Wait()
	w.mongo.KillNode(primary)
	for _, n := range majority {
		w.mongo.StartNode(t, n)
	}
	w.mongo.AwaitPrimary(t)
	w.mongo.StartNode(t, primary)
	c.certainly(kept, w.replicas[2]) // at the revision of the lost change
	c.ask(kept, w.replicas[1], true) // before another replica stores the value in Redis
	c.everywhere(kept)
	c.everywhere(lost)
	w.settle()
	return w, w.verdict()
}

// cellOf returns the first cell of that kind.
func (w *world) cellOf(kind string) *cell {
	return w.cells[slices.IndexFunc(w.cells, func(c *cell) bool { return c.kind.name == kind })]
}

// revisionAt reads the revision of the cell's account from one node, without a majority.
func (w *world) revisionAt(node int, cl *cell) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var doc struct {
		Revision int64 `bson:"rev"`
	}
	name := w.db().Name()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(w.mongo.NodeURL(node))))(w.t)
	defer func() { _ = client.Disconnect(context.Background()) }()
	revisions := client.Database(name).Collection("authz_rev", options.Collection().SetReadConcern(readconcern.Local()).SetReadPreference(readpref.Nearest()))
	_ = revisions.FindOne(ctx, bson.D{{Key: "_id", Value: ":" + cl.account}}).Decode(&doc) // an error leaves 0
	return doc.Revision
}

// awaitAt waits until the node has a later revision than before.
func (w *world) awaitAt(node int, cl *cell, before int64) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); w.revisionAt(node, cl) <= before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Log("the change did not reach the isolated node")
			return
		}
	}
}

// restored restores the database from a backup, in the steps of docs/operate/store.md.
func restored(t testing.TB, binary string, _ time.Duration) (*world, *verdict) {
	w := newWorld(t, binary, servers.Mongo(t, 1), shape{leases: []string{"200ms", "200ms"}, accounts: 1, perKind: 2})
	c, kept, lost := newClient(w), w.cells[0], w.cells[1]
	c.certainly(kept, w.replicas[0])
	backup := w.backup()
	c.certainly(lost, w.replicas[0])
	c.everywhere(kept)
	for _, r := range w.replicas {
		r.kill()
	}
	w.restore(backup)
	if out, err := exec.Command(binary, "store", "new-generation", "--mongo-url", w.database).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range w.replicas {
		r.start(t)
	}
	w.h = newHistory() // the restore removed later changes
	w.h.add(op{register: kept.id, write: true, value: true, call: -1, ret: -1})
	lost.value = false
	c.certainly(kept, w.replicas[0]) // at the revision of the removed change
	c.everywhere(kept)
	c.everywhere(lost)
	return w, w.verdict()
}

// db returns the database of the replicas.
func (w *world) db() *mongo.Database {
	w.t.Helper()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(w.database)))(w.t)
	w.t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	u := must.Get(url.Parse(w.database))(w.t)
	return client.Database(u.Path[1:])
}

// backup reads every document.
func (w *world) backup() map[string][]bson.Raw {
	w.t.Helper()
	ctx, db, out := context.Background(), w.db(), map[string][]bson.Raw{}
	names := must.Get(db.ListCollectionNames(ctx, bson.D{}))(w.t)
	for _, name := range names {
		cursor := must.Get(db.Collection(name).Find(ctx, bson.D{}))(w.t)
		var docs []bson.Raw
		must.Do(w.t, cursor.All(ctx, &docs))
		out[name] = docs
	}
	return out
}

// restore replaces all documents by those of the backup.
func (w *world) restore(backup map[string][]bson.Raw) {
	w.t.Helper()
	ctx, db := context.Background(), w.db()
	for name, docs := range backup {
		must.Get(db.Collection(name).DeleteMany(ctx, bson.D{}))(w.t)
		if len(docs) == 0 {
			continue
		}
		must.Get(db.Collection(name).InsertMany(ctx, docs))(w.t)
	}
}
