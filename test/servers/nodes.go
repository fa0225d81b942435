package servers

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Primary is the number of the node that is the primary now.
func (r *ReplicaSet) Primary(t testing.TB) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(r.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	var hello struct {
		Primary string `bson:"primary"`
	}
	err = until(func() error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Decode(&hello)
		if err == nil && hello.Primary == "" {
			err = errors.New("no primary")
		}
		return err
	})
	n := slices.Index(r.hosts(), hello.Primary)
	if err != nil || n < 0 {
		t.Fatalf("no primary (%q): %v", hello.Primary, err)
	}
	return n
}

// NodeURL is that of one node alone.
func (r *ReplicaSet) NodeURL(node int) string {
	return "mongodb://" + r.hosts()[node] + "/?directConnection=true"
}

// Others are the numbers of all nodes but one.
func (r *ReplicaSet) Others(node int) []int {
	var out []int
	for n := range r.nodes {
		if n != node {
			out = append(out, n)
		}
	}
	return out
}

// Pause stops these nodes in their tracks, or all where none is named; the function it gives
// lets them go on.
func (r *ReplicaSet) Pause(t testing.TB, nodes ...int) (resume func()) {
	t.Helper()
	if len(nodes) == 0 {
		nodes = r.Others(-1)
	}
	signal := func(s syscall.Signal) {
		for _, n := range nodes {
			if err := r.nodes[n].cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}

// KillNode ends a node at once.
func (r *ReplicaSet) KillNode(node int) { r.nodes[node].kill() }

// StartNode starts a killed node again, on what it had.
func (r *ReplicaSet) StartNode(t testing.TB, node int) {
	t.Helper()
	args := r.nodes[node].cmd.Args
	p, err := start(args[0], args[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	r.nodes[node] = p
}

// AwaitPrimary waits until the set takes writes.
func (r *ReplicaSet) AwaitPrimary(t testing.TB) {
	t.Helper()
	if err := until(r.writable); err != nil {
		t.Fatalf("no primary: %v", err)
	}
}

// KillMajority ends more than half of the nodes at once. The primary is among them, or it is left
// alone, and does not notice its loss for a while. The function it gives starts them again, and
// waits until there is a primary. A primary left alone does not stay one: it ends before, and
// starts after another one has, so its own writes are undone.
func (r *ReplicaSet) KillMajority(t testing.TB, withPrimary bool) (restart func()) {
	t.Helper()
	primary := r.Primary(t)
	killed := r.Others(primary)
	if withPrimary {
		killed = append(killed[:len(r.nodes)/2], primary)
	} else {
		killed = killed[:len(r.nodes)/2+1]
	}
	for _, n := range killed {
		r.KillNode(n)
	}
	return func() {
		t.Helper()
		if !withPrimary {
			r.KillNode(primary)
			defer r.StartNode(t, primary)
		}
		for _, n := range killed {
			r.StartNode(t, n)
		}
		r.AwaitPrimary(t)
	}
}
