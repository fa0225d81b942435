package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/test/tier"
)

// EnvMongod names the mongod to test with, where it is not in PATH.
const EnvMongod = "PORTCULLIS_TEST_MONGOD"

// ReplicaSet is a MongoDB replica set.
type ReplicaSet struct {
	// URL names all nodes, and no database.
	URL   string
	nodes []*process
	ports []int
}

// missingMongod is what a test says that is skipped without a server.
const missingMongod = "SKIPPED: no mongod in PATH; set " + EnvMongod + " to one (4.4 or later) to test with a real MongoDB"

// Mongod finds the server's binary.
func Mongod() (string, error) {
	if path := os.Getenv(EnvMongod); path != "" {
		return path, nil
	}
	return exec.LookPath("mongod")
}

// NeedMongod returns the server's binary. Without one a test is skipped, and in `make test`, since it runs on the
// embedded store.
func NeedMongod(t testing.TB) (path string) {
	t.Helper()
	tier.Check(t)
	path, err := Mongod()
	if err != nil {
		t.Skip(missingMongod)
	}
	return path
}

// sets are the replica sets that tests share, by their number of nodes.
var sets struct {
	sync.Mutex
	replicaSets map[int]*ReplicaSet
	err         map[int]error
}

// Mongo gives the shared replica set with that many nodes. Tests take a database of their
// own in it, and leave its nodes alone.
func Mongo(t testing.TB, nodes int) *ReplicaSet {
	t.Helper()
	sets.Lock()
	defer sets.Unlock()
	if sets.replicaSets == nil {
		sets.replicaSets, sets.err = map[int]*ReplicaSet{}, map[int]error{}
	}
	if sets.replicaSets[nodes] == nil && sets.err[nodes] == nil {
		sets.replicaSets[nodes], sets.err[nodes] = newReplicaSet(t, nodes)
	}
	if sets.err[nodes] != nil {
		t.Fatal(sets.err[nodes])
	}
	return sets.replicaSets[nodes]
}

// NewMongo is a replica set of the test's own, with which it may do as it likes.
func NewMongo(t testing.TB, nodes int) *ReplicaSet {
	t.Helper()
	set, err := newReplicaSet(t, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func newReplicaSet(t testing.TB, nodes int) (*ReplicaSet, error) {
	t.Helper()
	path := NeedMongod(t)
	set := &ReplicaSet{}
	var members bson.A
	var hosts []string
	for i := range nodes {
		host, err := set.startNode(path, "--replSet", "rs0")
		if err != nil {
			return nil, err
		}
		members = append(members, bson.D{{Key: "_id", Value: i}, {Key: "host", Value: host}})
		hosts = append(hosts, host)
	}
	set.URL = "mongodb://" + strings.Join(hosts, ",") + "/?replicaSet=rs0"
	err := set.initiate(hosts[0], bson.D{
		{Key: "_id", Value: "rs0"},
		{Key: "members", Value: members},
		{Key: "settings", Value: bson.D{{Key: "electionTimeoutMillis", Value: 2000}}},
	})
	if err == nil {
		err = until(set.writable)
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail(set.nodes[0].output.String()))
	}
	return set, nil
}

// hosts are the nodes' addresses.
func (r *ReplicaSet) hosts() []string {
	out := make([]string, len(r.ports))
	for i, port := range r.ports {
		out[i] = "127.0.0.1:" + strconv.Itoa(port)
	}
	return out
}

func (r *ReplicaSet) startNode(path string, more ...string) (host string, err error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	port, err := reservedPort()
	if err != nil {
		return "", err
	}
	p, err := start(path, append([]string{
		"--dbpath", dir, "--port", strconv.Itoa(port), "--bind_ip", "127.0.0.1",
		"--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "64",
		// A linearizable read waits for the journal, which is written every 100 ms otherwise.
		"--journalCommitInterval", "2",
	}, more...)...)
	if err != nil {
		return "", err
	}
	r.nodes, r.ports = append(r.nodes, p), append(r.ports, port)
	return "127.0.0.1:" + strconv.Itoa(port), nil
}

// initiate makes the set; its primary is there a little later.
func (r *ReplicaSet) initiate(host string, config bson.D) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	first, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + host + "/?directConnection=true"))
	if err != nil {
		return err
	}
	defer func() { _ = first.Disconnect(ctx) }()
	err = until(func() error {
		return first.Database("admin").RunCommand(ctx, bson.D{{Key: "replSetInitiate", Value: config}}).Err()
	})
	if err != nil {
		return fmt.Errorf("replSetInitiate: %w", err)
	}
	return nil
}

// writable says whether the set has a primary and a majority.
func (r *ReplicaSet) writable() error {
	client, err := mongo.Connect(options.Client().ApplyURI(r.URL + "&w=majority"))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = client.Database("portcullis_ready").Collection("c").InsertOne(ctx, bson.D{{Key: "a", Value: 1}})
	return err
}

// StepDown makes the primary one of the others, and waits until there is a new one.
func (r *ReplicaSet) StepDown(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(r.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	err = client.Database("admin").RunCommand(ctx, bson.D{{Key: "replSetStepDown", Value: 10}, {Key: "force", Value: true}}).Err()
	var command mongo.CommandError
	if err != nil && !mongo.IsNetworkError(err) && !errors.As(err, &command) {
		t.Fatal(err)
	}
	r.AwaitPrimary(t)
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// StandaloneMongo is the URL of a server without a replica set.
func StandaloneMongo(t testing.TB) string {
	t.Helper()
	set := &ReplicaSet{}
	host, err := set.startNode(NeedMongod(t))
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + host + "/?directConnection=true"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	err = until(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		return client.Ping(ctx, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return "mongodb://" + host + "/"
}
