package servers

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// RedisCluster is a Redis cluster of three masters without replicas.
type RedisCluster struct {
	// URL is of the first node, and names the others.
	URL   string
	Nodes []*RedisServer
}

const (
	clusterNodes = 3
	// clusterSlots is how many slots every cluster has.
	clusterSlots = 16384
)

// NewRedisCluster starts it. While a node is gone the others answer for their slots.
func NewRedisCluster(t testing.TB, options ...RedisOption) *RedisCluster {
	t.Helper()
	c := &RedisCluster{}
	var buses []int
	for range clusterNodes {
		bus, err := reservedPort()
		if err != nil {
			t.Fatal(err)
		}
		buses = append(buses, bus)
		c.Nodes = append(c.Nodes, NewRedis(t, append(options, withArgs(
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus),
			"--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no",
		))...))
	}
	c.join(t, buses)
	query := url.Values{}
	for _, n := range c.Nodes[1:] {
		query.Add("addr", n.Address())
	}
	c.URL = c.Nodes[0].URL + "?" + query.Encode()
	if err := until(func() error { return c.whole(t) }); err != nil {
		t.Fatalf("the cluster is not whole: %v\n%s", err, tail(c.Nodes[0].p.output.String()))
	}
	return c
}

// join gives each node its slots, and the first one the others' addresses.
func (c *RedisCluster) join(t testing.TB, buses []int) {
	t.Helper()
	ctx := context.Background()
	for i, n := range c.Nodes {
		first, next := i*clusterSlots/clusterNodes, (i+1)*clusterSlots/clusterNodes
		if err := n.Client(t).ClusterAddSlotsRange(ctx, first, next-1).Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.Nodes[0].Client(t).Do(ctx, "cluster", "meet", "127.0.0.1", n.port, buses[i]).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// whole says whether every node knows where each slot is.
func (c *RedisCluster) whole(t testing.TB) error {
	t.Helper()
	for _, n := range c.Nodes {
		info, err := n.Client(t).ClusterInfo(context.Background()).Result()
		if err != nil {
			return err
		}
		for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:" + strconv.Itoa(clusterSlots), "cluster_size:" + strconv.Itoa(clusterNodes)} {
			if !strings.Contains(info, want) {
				return errors.New(info)
			}
		}
	}
	return nil
}

// Pause stops all nodes in their tracks; the function it gives lets them go on.
func (c *RedisCluster) Pause(t testing.TB) (resume func()) {
	t.Helper()
	return pauseAll(t, c.Nodes...)
}

// Move takes the slot of a key, with what is in it, away from its node and gives it to
// another, empty.
func (c *RedisCluster) Move(t testing.TB, key string) {
	t.Helper()
	ctx := context.Background()
	for i, server := range c.Nodes {
		holder := server.Client(t)
		if holder.Exists(ctx, key).Err() != nil {
			continue // another's
		}
		client := c.Nodes[(i+1)%len(c.Nodes)].Client(t)
		slot, id := holder.ClusterKeySlot(ctx, key).Val(), client.Do(ctx, "cluster", "myid").Val()
		for _, step := range []error{
			holder.FlushAll(ctx).Err(),
			client.Do(ctx, "cluster", "bumpepoch").Err(), // else the others' news of the holder take the slot back
			client.Do(ctx, "cluster", "setslot", slot, "node", id).Err(),
			holder.Do(ctx, "cluster", "setslot", slot, "node", id).Err(),
		} {
			if step != nil {
				t.Fatal(step)
			}
		}
		return
	}
	t.Fatal("no node has " + key)
}
