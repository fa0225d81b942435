package faults_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

const faultUser = "user-fault-v1"

// startTwo are two replicas and a user without a role.
func startTwo(t *testing.T) *harness.Replicas {
	t.Helper()
	r := harness.StartReplicas(t, 2)
	r.AddUser(t, faultUser)
	return r
}

// sceneOn is the scene at one of the replicas.
func sceneOn(r *harness.Replicas, replica int) *harness.Scene {
	scene := *r.Scene
	scene.Gateway = r.All[replica]
	return &scene
}

// replicaKilled guarantees that its answered changes are in force on the others. A later revoke
// takes away everything of its unfinished change.
func replicaKilled(t *testing.T) {
	t.Parallel()
	r := startTwo(t)
	path := harness.AssignmentPath("project_reader", faultUser, r.Project)
	for _, underWay := range []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 40 * time.Millisecond} {
		g := r.All[0]
		sceneOn(r, 0).Must(t, 200, "PUT", path, "{}")
		var change sync.WaitGroup
		if underWay > 0 {
			change.Go(func() {
				_, _ = harness.TryCall("PUT", sceneOn(r, 0).Path(path), r.AdminToken, `{"status":"INACTIVE"}`) // it is cut off
			})
		}
		<-time.After(underWay)
		g.Kill(t)
		change.Wait()
		if underWay == 0 {
			wantAllowed(t, r, 1, faultUser, true)
		}
		harness.SoonWithin(t, time.Minute, "the other replica revokes", func() bool {
			got, err := harness.TryCall("DELETE", sceneOn(r, 1).Path(path), r.AdminToken, "")
			return err == nil && (got.Status == 200 || got.Status == 404) // of what the killed one has undone already
		})
		wantAllowed(t, r, 1, faultUser, false)
		r.All[0] = harness.Launch(t, g.DataDir, r.Flags...)
		wantAllowed(t, r, 0, faultUser, false)
	}
}

// replicaPaused guarantees that a replica asleep during a revoke allows none of the waiting
// questions.
func replicaPaused(t *testing.T) {
	t.Parallel()
	r := startTwo(t)
	path := harness.AssignmentPath("project_reader", faultUser, r.Project)
	question := r.RawHead("POST", "/api/v1/authorize/accounts/"+r.Account+"/projects/"+r.Project+"/instances/i-1",
		"X-User-ID: "+faultUser, "X-Account-ID: "+r.Account, "X-Action: project:instance:read", "Connection: close")
	for range 10 {
		sceneOn(r, 0).Must(t, 200, "PUT", path, "{}")
		wantAllowed(t, r, 1, faultUser, true)
		var waiting []net.Conn
		dial := func() {
			c := must.Get(net.Dial("tcp", strings.TrimPrefix(r.All[1].URL, "http://")))(t)
			waiting = append(waiting, c)
		}
		dial() // one that was accepted before
		resume := pauseProcess(t, r.All[1])
		sceneOn(r, 0).Must(t, 200, "DELETE", path, "") // waits out the lease, so the pause is longer
		dial()
		for _, c := range waiting {
			must.Get(io.WriteString(c, question))(t)
		}
		resume()
		for _, c := range waiting {
			answer, err := io.ReadAll(c)
			if err != nil || !strings.Contains(string(answer), `{"allowed":false,`) {
				t.Errorf("asked after the revoke was answered: %v\n%s", err, answer)
			}
			_ = c.Close()
		}
		wantAllowed(t, r, 1, faultUser, false)
	}
}

func pauseProcess(t *testing.T, g *harness.Gateway) (resume func()) {
	t.Helper()
	signal := func(s syscall.Signal) {
		if err := g.Cmd.Process.Signal(s); err != nil {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}

// replicaClockMoved: the cache of a replica, on the database of the others. Its clock goes
// forward or back between a grant and a revoke that another replica answered; either way
// the revoke is in force.
func replicaClockMoved(t *testing.T) {
	t.Parallel()
	const lease = 200 * time.Millisecond // of the others too: nobody waits longer for this one
	r := startTwo(t)
	collections := records.NewCollections()
	db := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: r.Mongo, Schemas: collections.Schemas()}))(t)
	t.Cleanup(func() { _ = db.Close() })
	path := harness.AssignmentPath("project_reader", faultUser, r.Project)
	for name, jump := range map[string]time.Duration{"a day forward": 24 * time.Hour, "a day back": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			now := 1000 * time.Hour // it stands still, but for the jump
			cache := rolecache.New(db, collections, rolecache.Options{
				Entries: 1000, Within: 5 * time.Second, Lease: lease, Clock: func() time.Duration { return now },
			})
			holds := func() int {
				facts := must.Get(cache.Facts(context.Background(), r.Account, faultUser, r.Project))(t)
				return len(facts.Subject.Assignments)
			}
			r.Must(t, 200, "PUT", path, "{}")
			now += jump
			if holds() != 1 {
				t.Fatal("the grant is not seen")
			}
			r.Must(t, 200, "DELETE", path, "")
			if holds() != 1 {
				t.Fatal("the clock has no part in this: the row proves nothing")
			}
			now += jump
			if holds() != 0 {
				t.Error("the revoke is not in force")
			}
		})
	}
}
