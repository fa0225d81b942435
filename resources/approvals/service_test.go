package approvals_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/approvals"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	account, user = "acct-a-v1", "user-alice-v1"
	agent         = "agent-a-v1"
)

type world struct {
	*areatest.World
	*approvals.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: areatest.New(t, resources.AreaAccess)}
	w.Service = &approvals.Service{Store: w.World.Store, Collections: w.World.Collections, IDs: w.World.IDs()}
	return w
}

// call is a call of alice through the client.
func call(change ...func(*resources.Approval)) resources.Approval {
	a := resources.Approval{
		AccountID: account, UserID: user, Client: resources.AgentClient{Issuer: "i", ClientID: "c"}, Server: "desk", Place: "desk", Tool: "close",
		Effect: resources.EffectWrite, Arguments: `{"n":1}`, Further: `{"x":1}`, ArgumentsHash: "sha256:1", Definition: "sha256:d",
	}
	for _, c := range change {
		c(&a)
	}
	return a
}

// ask uses the approval of a call, and fails the test for another status.
func (w *world) ask(a resources.Approval, status string) resources.Approval {
	w.T.Helper()
	got, err := w.Use(w.Ctx, a)
	if err != nil || got.Status != status {
		w.T.Fatalf("%+v %v, want %s", got, err, status)
	}
	return got
}

// decide sets the status of a request.
func (w *world) decide(id, status string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := w.World.Collections.Approvals.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Status = status
		return w.World.Collections.Approvals.Replace(ctx, tx, rec)
	})
}

func (w *world) pass(d time.Duration) { w.Clock.Add(d.Milliseconds()) }

// TestAnApprovalIsUsedOnce guarantees that one use takes the approval and its arguments away. The use moves no revision. A
// declined call stays declined.
func TestAnApprovalIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	first := w.ask(call(), resources.ApprovalPending)
	if again := w.ask(call(), resources.ApprovalPending); again != first {
		t.Errorf("%+v, want %+v", again, first)
	}
	w.decide(first.ID, resources.ApprovalApproved)
	used := w.ask(call(), resources.ApprovalUsed)
	if used.ID != first.ID || used.Arguments != "" || used.Further != "" {
		t.Errorf("%+v", used)
	}
	second := w.ask(call(), resources.ApprovalPending)
	if second.ID == first.ID || second.Arguments == "" {
		t.Errorf("%+v", second)
	}
	w.decide(second.ID, resources.ApprovalDenied)
	if declined := w.ask(call(), resources.ApprovalDenied); declined.ID != second.ID {
		t.Errorf("%+v", declined)
	}
	if w.Revision(account) != 0 {
		t.Error("the account's revision has moved")
	}
}

// TestOneAwaitsOnesOwnOpenRequest guarantees that nobody waits for a decided, expired or unknown request, or for another user's.
func TestOneAwaitsOnesOwnOpenRequest(t *testing.T) {
	w := newWorld(t)
	pending := func(account, user, id string, want bool) {
		t.Helper()
		if got, err := w.Pending(w.Ctx, account, user, id); got != want || err != nil {
			t.Errorf("%s %s %s: %v %v", account, user, id, got, err)
		}
	}
	id := w.ask(call(), resources.ApprovalPending).ID
	pending(account, user, id, true)
	pending(account, "user-bob-v1", id, false)
	pending("acct-b-v1", user, id, false)
	pending(account, user, "approval-unknown-v1", false)
	pending(account, user, "", false)
	for _, status := range []string{resources.ApprovalApproved, resources.ApprovalDenied, resources.ApprovalUsed} {
		w.decide(id, status)
		pending(account, user, id, false)
	}
	w.decide(id, resources.ApprovalPending)
	w.pass(resources.ApprovalLife)
	pending(account, user, id, false)
}

// TestAnApprovalIsOfOneCall guarantees that each part of a call counts. So does the agent: an approval is not for the
// client's next agent.
func TestAnApprovalIsOfOneCall(t *testing.T) {
	w := newWorld(t)
	w.decide(w.ask(call(), resources.ApprovalPending).ID, resources.ApprovalApproved)
	for name, change := range map[string]func(*resources.Approval){
		"account": func(a *resources.Approval) { a.AccountID = "acct-b-v1" }, "user": func(a *resources.Approval) { a.UserID = "user-bob-v1" },
		"issuer": func(a *resources.Approval) { a.Client.Issuer = "j" }, "client": func(a *resources.Approval) { a.Client.ClientID = "d" },
		"no client": func(a *resources.Approval) { a.Client = resources.AgentClient{} }, "boundary": func(a *resources.Approval) { a.Client = resources.AgentClient{Issuer: "ic"} },
		"server": func(a *resources.Approval) { a.Server = "other" }, "place": func(a *resources.Approval) { a.Place = "projects/p/desk" },
		"tool": func(a *resources.Approval) { a.Tool = "open" }, "effect": func(a *resources.Approval) { a.Effect = resources.EffectRead },
		"arguments": func(a *resources.Approval) { a.ArgumentsHash = "sha256:2" }, "definition": func(a *resources.Approval) { a.Definition = "sha256:e" },
	} {
		t.Run(name, func(t *testing.T) { (&world{w.In(t), w.Service}).ask(call(change), resources.ApprovalPending) })
	}
	w.Write(func(ctx context.Context, tx store.Tx) error {
		if err := w.World.Collections.Agents.Insert(ctx, tx, resources.Agent{ID: agent, AccountID: account, Name: "Helper"}); err != nil {
			return err
		}
		return w.World.Collections.AgentClients.Insert(ctx, tx, records.AgentClient{ID: records.AgentClientID(account, call().Client), AccountID: account, AgentID: agent})
	})
	if got := w.ask(call(), resources.ApprovalPending); got.AgentID != agent || got.AgentName != "Helper" {
		t.Errorf("%+v", got)
	}
}

// TestAnApprovalExpires guarantees the end after ApprovalLife of pending, approved and declined ones, and that new requests
// delete expired ones.
func TestAnApprovalExpires(t *testing.T) {
	w := newWorld(t)
	for i, status := range []string{resources.ApprovalPending, resources.ApprovalApproved, resources.ApprovalDenied} {
		first := w.ask(call(), resources.ApprovalPending)
		if first.ExpiresAt-first.CreatedAt != resources.Time(resources.ApprovalLife.Milliseconds()) {
			t.Errorf("%+v", first)
		}
		w.pass(resources.ApprovalLife - time.Millisecond)
		w.decide(first.ID, status)
		if status != resources.ApprovalApproved {
			w.ask(call(), status)
		}
		w.pass(time.Millisecond)
		if next := w.ask(call(), resources.ApprovalPending); next.ID == first.ID {
			t.Errorf("%d %s: %+v", i, status, next)
		}
		w.pass(resources.ApprovalLife)
	}
	w.ask(call(func(a *resources.Approval) { a.Tool = "open" }), resources.ApprovalPending)
	if n := w.count(); n != 1 {
		t.Errorf("%d records are left", n)
	}
}

func (w *world) count() int {
	w.T.Helper()
	n := 0
	must.Do(w.T, w.World.Store.View(w.Ctx, func(tx store.Tx) error {
		recs, err := w.World.Collections.Approvals.List(w.Ctx, tx, "", 1000)
		n = len(recs)
		return err
	}))
	return n
}

// TestOneOfManyUsesFindsTheApproval guarantees it for 32 uses at once, and one request for 32 equal calls at once.
func TestOneOfManyUsesFindsTheApproval(t *testing.T) {
	w := newWorld(t)
	for round := range 20 {
		one := call(func(a *resources.Approval) { a.ArgumentsHash = fmt.Sprint(round) })
		ids := sync.Map{}
		together(32, func() {
			got, err := w.Use(w.Ctx, one)
			if err != nil || got.Status != resources.ApprovalPending {
				t.Errorf("%+v %v", got, err)
			}
			ids.Store(got.ID, true)
		})
		var id string
		n := 0
		ids.Range(func(key, _ any) bool {
			id, _ = key.(string)
			n++
			return true
		})
		if n != 1 {
			t.Fatalf("%d requests", n)
		}
		w.decide(id, resources.ApprovalApproved)
		var used atomic.Int32
		together(32, func() {
			if got, err := w.Use(w.Ctx, one); err == nil && got.Status == resources.ApprovalUsed {
				used.Add(1)
			}
		})
		if used.Load() != 1 {
			t.Fatalf("%d calls went out", used.Load())
		}
		w.pass(resources.ApprovalLife)
	}
}

func together(n int, f func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(f)
	}
	all.Wait()
}

// TestAUsersOpenRequestsAreBounded guarantees MaxOpenApprovals of each user, and MaxOpenOfClient of each client among them.
// Decided and expired ones do not count.
func TestAUsersOpenRequestsAreBounded(t *testing.T) {
	w := newWorld(t)
	numbered := func(n int) resources.Approval {
		return call(func(a *resources.Approval) {
			a.ArgumentsHash = fmt.Sprint(n)
			a.Client.ClientID += fmt.Sprint(n / resources.MaxOpenOfClient) // 0 to 9 are of one client
		})
	}
	full := func(call resources.Approval) {
		t.Helper()
		if got, err := w.Use(w.Ctx, call); err != nil || got.ID != "" || got.Status != "" {
			t.Errorf("%+v %v", got, err)
		}
	}
	first := w.ask(numbered(0), resources.ApprovalPending)
	eleventh := func() resources.Approval {
		a := numbered(200)
		a.Client = numbered(0).Client
		return a
	}()
	for n := 1; n < resources.MaxOpenApprovals; n++ {
		if n == resources.MaxOpenOfClient {
			full(eleventh)
		}
		w.ask(numbered(n), resources.ApprovalPending)
	}
	full(numbered(100))
	w.ask(numbered(3), resources.ApprovalPending) // it is there already
	other := numbered(100)
	other.UserID = "user-bob-v1"
	w.ask(other, resources.ApprovalPending)
	w.decide(first.ID, resources.ApprovalApproved)
	w.ask(numbered(100), resources.ApprovalPending)
	full(numbered(101))
	w.ask(numbered(0), resources.ApprovalUsed)
	full(numbered(0))
	w.pass(resources.ApprovalLife)
	w.ask(numbered(0), resources.ApprovalPending)
}

// TestAStoreThatIsDownApprovesNothing guarantees an error, and no approval beside it.
func TestAStoreThatIsDownApprovesNothing(t *testing.T) {
	w := newWorld(t)
	w.decide(w.ask(call(), resources.ApprovalPending).ID, resources.ApprovalApproved)
	must.Do(t, w.World.Store.Close())
	if got, err := w.Use(w.Ctx, call()); err == nil || got != (resources.Approval{}) {
		t.Errorf("%+v %v", got, err)
	}
}
