package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

const (
	// faultLease is a long one, so that a test can ask within it and after it.
	faultLease = 2 * time.Second
	// barrierTime is how long a question waits for the store when the lease is over.
	barrierTime = 250 * time.Millisecond
)

// primaryless is a gateway on a replica set whose primary each row takes away, while one
// client asks and another one makes clusters.
type primaryless struct {
	*harness.Scene
	set  *servers.ReplicaSet
	made []string // names of clusters, answered with 201
}

func startPrimaryless(t *testing.T) *primaryless {
	t.Helper()
	set := servers.NewMongo(t, 3)
	dir := t.TempDir()
	g := harness.Launch(t, dir, "--mongo-url", strings.Replace(set.URL, "/?", "/faults?", 1),
		"--master-key-file", harness.MasterKeyOf(t, dir), "--freshness-lease", faultLease.String())
	return &primaryless{Scene: harness.NewScene(t, g), set: set}
}

// asked is one question and its answer.
type asked struct {
	sent time.Time
	took time.Duration
	harness.Reply
}

// clients ask and write until they are stopped.
type clients struct {
	wait                            sync.WaitGroup
	stop                            atomic.Bool
	allowed, denied, wrote, refused atomic.Int64
	asked                           []asked
	longest                         time.Duration // of a write that was refused
}

func (p *primaryless) startClients(t *testing.T) *clients {
	t.Helper()
	c := &clients{}
	c.wait.Go(func() { p.askAll(t, c) })
	c.wait.Go(func() { p.writeAll(t, c) })
	return c
}

func (p *primaryless) askAll(t *testing.T, c *clients) {
	for !c.stop.Load() {
		one := asked{sent: time.Now()}
		r, err := harness.TryCall("POST", p.URL+"/api/v1/authorize/accounts/"+p.Account+"/projects/"+p.Project+"/x", p.Checker, "",
			"X-User-ID", p.Admin, "X-Account-ID", p.Account, "X-Action", "project:instance:read")
		one.Reply, one.took = r, time.Since(one.sent)
		c.asked = append(c.asked, one)
		switch {
		case err == nil && r.Status == 200 && r.Body["allowed"] == true:
			c.allowed.Add(1)
		case err == nil && r.Status == 503 && string(r.Raw) == `{"allowed":false,"reason":"authorization state unavailable"}` && r.Header.Get("Retry-After") != "":
			c.denied.Add(1)
		default:
			t.Errorf("authorization.check: %v %d %s %v", err, r.Status, r.Raw, r.Header)
			return
		}
	}
}

func (p *primaryless) writeAll(t *testing.T, c *clients) {
	for number := 0; !c.stop.Load(); number++ {
		name, started := fmt.Sprintf("c%d-%d", time.Now().UnixNano(), number), time.Now()
		r, err := harness.TryCall("POST", p.Path("/projects/"+p.Project+"/gpu-clusters"), p.AdminToken, fmt.Sprintf(`{"cluster_name":%q,"flavor_id":"f","image_id":"i"}`, name))
		switch {
		case err == nil && r.Status == 201:
			p.made = append(p.made, name)
			c.wrote.Add(1)
		case err == nil && r.Status == 503 && r.Header.Get("Retry-After") != "":
			c.longest = max(c.longest, time.Since(started))
			c.refused.Add(1)
		default:
			t.Errorf("gpu_cluster.create: %v %d %s %v", err, r.Status, r.Raw, r.Header)
			return
		}
	}
}

// row takes the primary away and gives it back. live is the status of liveness meanwhile.
func (p *primaryless) row(live int, fault func(t *testing.T) (undo func())) func(*testing.T) {
	return func(t *testing.T) {
		c := p.startClients(t)
		defer func() { c.stop.Store(true); c.wait.Wait() }()
		more := func(title string, n *atomic.Int64) {
			t.Helper()
			start := n.Load()
			harness.SoonWithin(t, time.Minute, title, func() bool { return n.Load() > start+5 || t.Failed() })
		}
		more("questions are allowed", &c.allowed)
		more("writes are answered", &c.wrote)
		undo := sync.OnceFunc(fault(t))
		defer undo() // the next row needs it
		broken := time.Now()
		more("questions are denied", &c.denied)
		harness.SoonWithin(t, time.Minute, "a write is refused", func() bool { return c.refused.Load() > 0 || t.Failed() })
		p.WantReady(t, 503)
		harness.SoonWithin(t, time.Minute, fmt.Sprintf("liveness is %d", live), func() bool { return p.liveness(t) == live })
		mending := time.Now()
		undo()
		more("questions are allowed again", &c.allowed)
		more("writes are answered again", &c.wrote)
		harness.SoonWithin(t, time.Minute, "readiness is 200 again", func() bool {
			return harness.Call(t, "GET", p.HealthURL+"/healthz/ready", "", "").Status == 200 && p.liveness(t) == 200
		})
		c.stop.Store(true)
		c.wait.Wait()
		judge(t, c, broken, mending)
		p.wantAll(t)
	}
}

func (p *primaryless) liveness(t *testing.T) int {
	t.Helper()
	return harness.Call(t, "GET", p.HealthURL+"/healthz/live", "", "").Status
}

// judge looks at when which question was answered how.
func judge(t *testing.T, c *clients, broken, mending time.Time) {
	t.Helper()
	timeout, longest, last := 0, time.Duration(0), time.Duration(0)
	for _, one := range c.asked {
		after := one.sent.Sub(broken)
		switch {
		case after < 0 || one.sent.Add(one.took).After(mending): // answered by a database that was back
		case one.Status == 200:
			last = max(last, after)
			if after < faultLease/2 {
				timeout++
			}
			if after > faultLease+barrierTime {
				t.Errorf("allowed %s after the primary was gone: %s", after, one.Raw)
			}
		default:
			longest = max(longest, one.took)
		}
	}
	if timeout == 0 {
		t.Error("no question was answered within the lease")
	}
	t.Logf("the last allow was asked for %s after the fault; the longest 503 took %s, that of a write %s", last, longest, c.longest)
}

// wantAll finds every cluster that was answered.
func (p *primaryless) wantAll(t *testing.T) {
	t.Helper()
	var existing []string
	for token, first := "", true; first || token != ""; first = false {
		r := p.Must(t, 200, "GET", "/projects/"+p.Project+"/gpu-clusters?page_size=100&page_token="+token, "")
		existing = append(existing, harness.Texts(r.Body["clusters"], "name")...)
		token, _ = r.Body["next_page_token"].(string)
	}
	for _, name := range p.made {
		if !slices.Contains(existing, name) {
			t.Errorf("cluster %s was answered and is lost", name)
		}
	}
	t.Logf("%d clusters were answered, %d are there", len(p.made), len(existing))
}
