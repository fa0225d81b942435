package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// The mail server is down; the invitation is stored and answered all the same, and
// arrives when the server is back, the process having been started anew meanwhile.
func TestMailArrivesAfterTheServerIsBackAndARestart(t *testing.T) {
	s := newScene(t)
	address := servers.Address(t)
	server := (&mailServer{t: t}).start(address)
	server.stop()
	m := s.invite("Acme", "bob@example.org")

	for range 4 {
		s.once(s.worker(s.smtp(server), nil), 1)
		s.clock.pass(15 * time.Minute)
	}
	kept := s.read(m.ID)
	if kept == nil || kept.Attempts != 4 || kept.LastError == "" || kept.State != resources.MessagePending || kept.LeaseUntil != 0 {
		t.Fatalf("kept %+v", kept)
	}

	s.restart()
	back := (&mailServer{t: t}).start(address)
	s.once(s.worker(s.smtp(server), nil), 1)
	if got := back.got(); len(got) != 1 || got[0].recipients[0] != "bob@example.org" {
		t.Fatalf("got %+v", got)
	}
	if s.read(m.ID) != nil {
		t.Error("the delivered message is still there")
	}
	s.once(s.worker(s.smtp(server), nil), 0)
}

// The process dies between the mail server's answer and the deletion.
func TestCrashAfterDeliveryRepeatsUnderTheSameMessageID(t *testing.T) {
	s := newScene(t)
	server := (&mailServer{t: t}).start("")
	m := s.invite("Acme", "bob@example.org")
	ctx, crash := context.WithCancel(t.Context())
	w := s.worker(deliverFunc(func(ctx context.Context, m resources.Message) error {
		err := s.smtp(server).Deliver(ctx, m)
		s.store.Close()
		crash()
		return err
	}), func(c *outbox.Config) { c.Grace = time.Millisecond })
	w.Once(ctx)
	s.open()

	if kept := s.read(m.ID); kept == nil || kept.LeaseOwner != "here" || kept.LeaseUntil != resources.At(s.clock.now().Add(time.Minute)) {
		t.Fatalf("kept %+v", kept)
	}
	after := s.worker(s.smtp(server), nil)
	s.clock.pass(time.Minute - time.Millisecond)
	s.once(after, 0) // the lease holds, and nobody knows that its owner is dead
	s.clock.pass(time.Millisecond)
	s.once(after, 1)
	got := server.got()
	if len(got) != 2 {
		t.Fatalf("%d letters", len(got))
	}
	first, second := parse(t, got[0].data).header, parse(t, got[1].data).header
	for _, name := range []string{"Message-Id", "Date"} {
		if first.Get(name) == "" || first.Get(name) != second.Get(name) {
			t.Errorf("%s %q, then %q", name, first.Get(name), second.Get(name))
		}
	}
}

func TestTwoWorkersDeliverEachMessageOnce(t *testing.T) {
	const all = 200
	s := newScene(t)
	var (
		mu       sync.Mutex
		times    = map[string]int{}
		underWay = map[string]bool{}
		tooMany  int
	)
	deliver := deliverFunc(func(_ context.Context, m resources.Message) error {
		mu.Lock()
		times[m.ID]++
		if underWay[m.ID] {
			tooMany++
		}
		underWay[m.ID] = true
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			underWay[m.ID] = false
		}()
		return nil
	})
	for i := range all {
		s.invite(fmt.Sprint("Account ", i), "bob@example.org")
	}
	outcomes := make(chan string, 2*all)
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		w := s.worker(deliver, func(c *outbox.Config) {
			c.Owner, c.Observe = name, func(o string) { outcomes <- o }
		})
		wait.Go(func() { w.Run(ctx) })
	}
	for range all {
		if o := <-outcomes; o != outbox.ResultDelivered {
			t.Fatalf("%+v", o)
		}
	}
	stop()
	wait.Wait()
	if len(times) != all || tooMany > 0 || len(outcomes) > 0 {
		t.Errorf("%d messages, %d twice at a time, %d outcomes too many", len(times), tooMany, len(outcomes))
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s: %d times", id, n)
		}
	}
}

func TestLeaseKeepsOthersAwayUntilItEnds(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	taken := 0
	other := s.worker(deliverFunc(func(context.Context, resources.Message) error { taken++; return nil }),
		func(c *outbox.Config) { c.Owner = "there" })
	slow := s.worker(deliverFunc(func(context.Context, resources.Message) error {
		s.once(other, 0)
		s.clock.pass(time.Minute)
		s.once(other, 1)
		return errors.New("too late")
	}), nil)
	s.once(slow, 1)
	if taken != 1 || s.read(m.ID) != nil {
		t.Errorf("taken over %d times; left: %+v", taken, s.read(m.ID))
	}
	if !strings.Contains(s.logs.String(), "could not be stored") {
		t.Error("the one that was too late said nothing")
	}
}

// A live lease is respected for every due time in the record, and the worker reaches the messages
// behind it.
func TestForeignLeasesAreSkipped(t *testing.T) {
	s := newScene(t)
	now := resources.At(s.clock.now())
	for range 10 {
		m := outbox.Invitation(resources.Account{ID: "acct-1-v1"}, resources.User{Email: "bob@example.org"}, s.ids, now-1)
		m.LeaseOwner, m.LeaseUntil = "there", now+1
		s.put(m)
	}
	free := s.invite("Acme", "bob@example.org")
	var mu sync.Mutex
	var got []string
	w := s.worker(deliverFunc(func(_ context.Context, m resources.Message) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, m.ID)
		return nil
	}), nil)
	s.once(w, 1)
	if len(got) != 1 || got[0] != free.ID {
		t.Errorf("delivered %q", got)
	}
	s.clock.pass(time.Millisecond)
	s.once(w, 4)
	s.once(w, 4)
	s.once(w, 2)
}

func TestOldestIsDeliveredFirstAndTheFutureWaits(t *testing.T) {
	s := newScene(t)
	var want []string
	for range 4 {
		want = append(want, s.invite("Acme", "bob@example.org").ID)
		s.clock.pass(time.Second)
	}
	s.invite("Acme", "bob@example.org")
	later := outbox.Invitation(resources.Account{ID: "acct-1-v1"}, resources.User{Email: "bob@example.org"}, s.ids, resources.At(s.clock.now())+1)
	s.put(later)
	var mu sync.Mutex
	got := map[string]bool{}
	w := s.worker(deliverFunc(func(_ context.Context, m resources.Message) error {
		mu.Lock()
		defer mu.Unlock()
		got[m.ID] = true
		return nil
	}), nil)
	s.once(w, 4)
	for _, id := range want {
		if !got[id] {
			t.Errorf("%s had to wait", id)
		}
	}
	s.once(w, 1)
	s.once(w, 0)
	s.clock.pass(time.Millisecond)
	s.once(w, 1)
}

func TestMessageThatWasDeletedMeanwhileIsNoTrouble(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	w := s.worker(deliverFunc(func(ctx context.Context, m resources.Message) error {
		return s.store.Transact(ctx, func(tx store.Tx) error {
			rec, err := s.c.Outbox.Get(ctx, tx, m.ID)
			if err != nil {
				return err
			}
			return s.c.Outbox.Delete(ctx, tx, rec)
		})
	}), nil)
	s.once(w, 1)
	s.once(w, 0)
	if s.read(m.ID) != nil {
		t.Error("it came back")
	}
}

// TestRunDeliversEachNewMessage checks that Run looks for messages again and again.
func TestRunDeliversEachNewMessage(t *testing.T) {
	s := newScene(t)
	done := make(chan string, 1)
	w := s.worker(deliverFunc(func(context.Context, resources.Message) error { return nil }), func(c *outbox.Config) {
		c.Every, c.Observe = time.Millisecond, func(o string) { done <- o }
	})
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { w.Run(ctx) })
	for range 3 {
		s.invite("Acme", "bob@example.org")
		<-done
	}
	stop()
	wait.Wait()
}
