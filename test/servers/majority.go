package servers

import (
	"context"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// KillMajority ends more than half of the nodes at once: the primary among them, or it is
// left alone, and does not know for a while that it is one no more. The function it gives
// starts them again, and waits until there is a primary.
func (r *ReplicaSet) KillMajority(t testing.TB, withPrimary bool) (restart func()) {
	t.Helper()
	primary := r.primary(t)
	var killed []int
	if withPrimary {
		killed = append(killed, primary)
	}
	for i := range r.nodes {
		if i != primary && len(killed) <= len(r.nodes)/2 {
			killed = append(killed, i)
		}
	}
	for _, i := range killed {
		r.nodes[i].kill()
	}
	return func() {
		t.Helper()
		for _, i := range killed {
			p, err := start(r.path, r.args[i]...)
			if err != nil {
				t.Fatal(err)
			}
			r.nodes[i] = p
		}
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		if err := until(func() error { return r.writable(ctx) }); err != nil {
			t.Fatalf("no primary after a restart: %v", err)
		}
	}
}

// primary is the index of the node that is it.
func (r *ReplicaSet) primary(t testing.TB) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(r.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	var hello struct {
		Me string `bson:"me"`
	}
	if err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Decode(&hello); err != nil {
		t.Fatal(err)
	}
	for i, port := range r.ports {
		if hello.Me == "127.0.0.1:"+strconv.Itoa(port) {
			return i
		}
	}
	t.Fatalf("the primary is %q, none of the nodes", hello.Me)
	return 0
}
