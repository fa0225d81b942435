package clusters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestClaimOfANewCluster guarantees that a claim has the cluster, now PROVISIONING, and its request.
func TestClaimOfANewCluster(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("kubernetes_cluster.create", home, "", `{"name":"web","flavor_id":"f","image_id":"i","k8s_version":"1.31"}`), 201)
	w.Expect(w.call("gpu_cluster.create", home, "", `{"cluster_name":"train","flavor_id":"f","image_id":"i","user_data":"x","security_group_ids":["sg-a-v1"]}`), 201)
	got := w.claim(worker, `{"max":5}`)
	if len(got) != 2 {
		t.Fatalf("%d claims", len(got))
	}
	for _, c := range got {
		spec, want := c.whole.At("spec"), map[string]any{
			"name": "web", "flavor_id": "f", "image_id": "i", "k8s_version": "1.31", "node_count": 1.0, "pod_cidr": "10.244.0.0/16", "service_cidr": "10.96.0.0/12",
			"cni_plugin": "cilium", "cluster_agent_enabled": false,
		}
		status := c.whole.Str("cluster.base.status")
		if c.kind == "gpu" {
			want = map[string]any{"cluster_name": "train", "flavor_id": "f", "image_id": "i", "gpu_count": 1.0, "user_data": "x", "security_group_ids": []any{"sg-a-v1"}}
			status = c.whole.Str("cluster.status")
		}
		if fmt.Sprint(spec) != fmt.Sprint(want) || !strings.HasSuffix(strings.ToUpper(status), "PROVISIONING") {
			t.Errorf("%s: %v %v", c.kind, status, spec)
		}
		if c.intent != "provision" || c.attempt != 1 || c.lease != "2026-09-21T14:14:20.000Z" || !strings.HasPrefix(c.id, "claim-") {
			t.Errorf("%+v", c)
		}
	}
	if again := w.claim(otherWorker, `{"max":20}`); len(again) != 0 {
		t.Errorf("claimed twice: %+v", again)
	}
}

// TestLostLeaseIsClaimedAgain guarantees that any provisioner gets the next attempt; the lost claim is over.
func TestLostLeaseIsClaimedAgain(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		w.made(k, home, "web")
		first := w.claim(worker, `{"lease_seconds":30}`)[0]
		w.Clock.Add(29_999)
		if got := w.claim(otherWorker, `{}`); len(got) != 0 {
			w.T.Fatalf("%+v while the lease runs", got)
		}
		w.Expect(w.report(first.id, worker, `{"extend_seconds":600}`), 200, `"lease_until":"2026-09-21T14:23:49.999Z"`)
		w.Clock.Add(599_999)
		if got := w.claim(otherWorker, `{}`); len(got) != 0 {
			w.T.Fatalf("%+v while the lease runs", got)
		}
		w.Clock.Add(1)
		w.Expect(w.report(first.id, worker, `{"extend_seconds":600}`), 200) // the last report, again
		w.Expect(w.report(first.id, worker, `{"status":"`+k.state(resources.ClusterRunning)+`"}`), 409, "over")
		second := w.claim(otherWorker, `{}`)
		if len(second) != 1 || second[0].attempt != 2 || second[0].cluster != first.cluster || second[0].id == first.id {
			w.T.Fatalf("%+v", second)
		}
		w.Expect(w.report(first.id, worker, `{"status":"`+k.state(resources.ClusterRunning)+`"}`), 409, "over")
		w.Expect(w.report(second[0].id, otherWorker, `{"status":"`+k.state(resources.ClusterRunning)+`"}`), 200)
	})
}

// TestAccountsTakeTurns guarantees that an account with many clusters does not keep the others waiting. Within an
// account the oldest of any kind is first.
func TestAccountsTakeTurns(t *testing.T) {
	w := newWorld(t)
	kinds := sorts()
	for i := range 6 {
		w.Clock.Add(1)
		w.made(kinds[i%2], home, fmt.Sprintf("a%d", i))
	}
	for i := range 2 {
		w.Clock.Add(1)
		w.made(kinds[i%2], site{acctB, one}, fmt.Sprintf("b%d", i))
	}
	var names []string
	for _, body := range []string{`{}`, `{}`, `{"max":3}`, `{"max":20}`} {
		for _, c := range w.claim(worker, body) {
			names = append(names, c.whole.Str("cluster.name")+c.whole.Str("cluster.base.name"))
		}
	}
	if want := []string{"a0", "b0", "a1", "b1", "a2", "a3", "a4", "a5"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestManyLeasesHideNothing: the oldest free cluster is found behind more live leases than one look takes.
func TestManyLeasesHideNothing(t *testing.T) {
	w, k := newWorld(t), sorts()[0]
	for i := range 105 {
		w.Clock.Add(1)
		w.made(k, home, fmt.Sprintf("a%d", i))
	}
	for range 6 {
		w.claim(worker, `{"max":20}`)
	}
	last := w.made(k, home, "last")
	if got := w.claimed1(k); got.cluster != last {
		t.Errorf("%+v", got)
	}
}

// TestSuspendedAccount: nothing is made in it, and what is deleted is.
func TestSuspendedAccount(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		gone := w.made(k, home, "gone")
		w.claimed1(k)
		w.Expect(w.call(k.remove, home, gone, ""), 200)
		w.made(k, home, "new")
		foreign := w.made(k, site{acctB, one}, "theirs")
		w.suspended[acctA] = true
		got := w.claim(worker, `{"max":20}`)
		if len(got) != 2 || got[0].cluster != gone && got[1].cluster != gone || got[0].cluster != foreign && got[1].cluster != foreign {
			w.T.Fatalf("%+v", got)
		}
		w.suspended[acctA] = false
		if got := w.claim(worker, `{"max":20}`); len(got) != 1 {
			w.T.Fatalf("%+v", got)
		}
	})
}

// TestKindsAreKept: a provisioner of one kind gets no cluster of the other.
func TestKindsAreKept(t *testing.T) {
	w := newWorld(t)
	for i, k := range sorts() {
		w.made(k, home, "web")
		if got := w.claim(worker, `{"kinds":["`+sorts()[1-i].name+`"],"max":20}`); len(got) != 0 {
			t.Fatalf("%+v", got)
		}
		w.claimed1(k)
	}
}

// TestClaimIsRefused with every problem of its body.
func TestClaimIsRefused(t *testing.T) {
	w := newWorld(t)
	for field, bad := range map[string][]string{
		"kinds":         {`[]`, `["vm"]`, `["gpu","gpu"]`, `["gpu","kubernetes","gpu"]`, `"gpu"`, `[1]`},
		"max":           {`0`, `21`, `-1`, `1.5`, `"1"`},
		"wait_seconds":  {`-1`, `31`, `"5"`},
		"lease_seconds": {`29`, `601`, `0`},
		"force":         {`true`},
	} {
		for _, value := range bad {
			got := w.provisioner("cluster_claim.create", "", worker, `{"`+field+`":`+value+`}`)
			if d := details(got); got.Status != 400 || len(d) != 1 || !strings.HasPrefix(d[0], field) {
				t.Errorf("%s: %s: %d %s", field, value, got.Status, got.Text)
			}
		}
	}
	got := w.provisioner("cluster_claim.create", "", worker, `{"kinds":[],"max":0,"wait_seconds":31,"lease_seconds":1}`)
	if d := details(got); got.Status != 400 || len(d) != 4 {
		t.Errorf("%d %s", got.Status, got.Text)
	}
	w.Expect(w.provisioner("cluster_claim.create", "", worker, ""), 400)
}
