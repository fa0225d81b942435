package outbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
)

// run starts a worker. The result stops it and waits for it.
func run(t *testing.T, w *outbox.Worker) (stop func(), wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { w.Run(ctx) })
	return cancel, group.Wait
}

func TestStopLetsTheDeliveryUnderWayEnd(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	began, end := make(chan bool), make(chan bool)
	w := s.worker(deliverFunc(func(ctx context.Context, _ resources.Message) error {
		began <- true
		<-end
		return ctx.Err()
	}), func(c *outbox.Config) { c.Grace = time.Hour })
	stop, wait := run(t, w)
	<-began
	stop()
	end <- true
	wait()
	if s.read(m.ID) != nil {
		t.Error("it was delivered, and is still there")
	}
}

func TestStopGivesBackWhatCanNotEnd(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	began := make(chan bool)
	var seen []string
	w := s.worker(deliverFunc(func(ctx context.Context, _ resources.Message) error {
		began <- true
		<-ctx.Done()
		return ctx.Err()
	}), func(c *outbox.Config) {
		c.Grace, c.Observe = time.Second, func(result string) { seen = append(seen, result) }
	})
	stop, wait := run(t, w)
	<-began
	stop()
	wait()
	kept := s.read(m.ID)
	if kept == nil || kept.Attempts != 0 || kept.LeaseUntil != 0 || kept.LeaseOwner != "" || kept.NextAt > resources.At(s.clock.now()) {
		t.Fatalf("kept %+v", kept)
	}
	if len(seen) != 1 || seen[0] != outbox.ResultReleased {
		t.Errorf("seen %+v", seen)
	}
	s.once(s.worker(deliverFunc(func(context.Context, resources.Message) error { return nil }), nil), 1)
}

func TestStoppedWorkerTakesNothing(t *testing.T) {
	s := newScene(t)
	s.invite("Acme", "bob@example.org")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	w := s.worker(deliverFunc(func(context.Context, resources.Message) error { t.Error("delivered"); return nil }), nil)
	w.Run(ctx)
	if n, err := w.Once(ctx); n != 0 || err == nil {
		t.Error(n, err)
	}
}

// A delivery ends before its lease does.
func TestDeliveryHasADeadline(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	w := s.worker(deliverFunc(func(ctx context.Context, _ resources.Message) error {
		<-ctx.Done()
		return ctx.Err()
	}), func(c *outbox.Config) { c.Timeout = 500 * time.Millisecond })
	s.once(w, 1)
	if kept := s.read(m.ID); kept == nil || kept.Attempts != 1 || kept.LeaseUntil != 0 {
		t.Errorf("kept %+v", kept)
	}
	var remaining time.Duration
	s.clock.pass(time.Hour)
	s.once(s.worker(deliverFunc(func(ctx context.Context, _ resources.Message) error {
		until, _ := ctx.Deadline()
		remaining = time.Until(until)
		return nil
	}), nil), 1)
	if remaining <= 0 || remaining > 30*time.Second {
		t.Errorf("a delivery has %v", remaining)
	}
}
