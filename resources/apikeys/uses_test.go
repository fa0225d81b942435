package apikeys_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// gate is a store whose transactions are counted and may be made to fail.
type gate struct {
	store.Store
	mu    sync.Mutex
	calls int
	err   error
}

func (g *gate) Transact(ctx context.Context, fn func(store.Tx) error) error {
	g.mu.Lock()
	g.calls++
	err := g.err
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return g.Store.Transact(ctx, fn)
}

func (g *gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

func (w *keysWorld) lastUse(id string) (moment resources.Time) {
	w.T.Helper()
	must.Do(w.T, w.Store.View(w.T.Context(), func(tx store.Tx) error {
		rec, err := w.Collections.KeyUses.Get(w.T.Context(), tx, id)
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		moment = rec.Value.LastUsedAt
		return err
	}))
	return moment
}

func (w *keysWorld) flush(u *apikeys.Uses) {
	w.T.Helper()
	must.Do(w.T, u.Flush(w.T.Context()))
}

func TestUsesAreWrittenTogether(t *testing.T) {
	w := newWorld(t)
	_, one := w.made(acctA, bob)
	_, two := w.made(acctA, alice)
	g := &gate{Store: w.Store}
	u := apikeys.NewUses(apikeys.UsesConfig{Store: g, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	before := must.Get(w.Store.Freshness(t.Context()))(t)
	for i := range 1000 {
		u.Note(one, areatest.Start+resources.Time(i))
	}
	u.Note(two, areatest.Start)
	u.Note(one, areatest.Start+7) // a clock that went back
	if g.count() != 0 || w.lastUse(one) != 0 {
		t.Error("a use was written at once")
	}
	w.flush(u)
	if g.count() != 1 || w.lastUse(one) != areatest.Start+999 || w.lastUse(two) != areatest.Start {
		t.Errorf("%d transactions, %d and %d", g.count(), w.lastUse(one), w.lastUse(two))
	}
	w.flush(u)
	if g.count() != 1 {
		t.Error("nothing to write, and a transaction")
	}
	after, err := w.Store.Freshness(t.Context())
	if err != nil || after != before {
		t.Errorf("a use moved the epoch: %+v %+v %v", before, after, err)
	}
}

// slow is a store with time for one transaction in a flush.
type slow struct {
	store.Store
	remaining int
}

func (s *slow) Transact(ctx context.Context, fn func(store.Tx) error) error {
	if s.remaining--; s.remaining < 0 {
		return store.ErrUnavailable
	}
	return s.Store.Transact(ctx, fn)
}

// TestEachUseHasItsTurn: keys that are used all the time keep no use of another one from being written.
func TestEachUseHasItsTurn(t *testing.T) {
	w := newWorld(t)
	_, last := w.made(acctA, bob)
	s := &slow{Store: w.Store}
	u := apikeys.NewUses(apikeys.UsesConfig{Store: s, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	u.Note(last, areatest.Start)
	for flush := range 6 {
		for i := range 1200 {
			u.Note(fmt.Sprintf("a%04d", i), areatest.Start+resources.Time(flush)) // before the ids of keys
		}
		s.remaining = 1
		if err := u.Flush(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if got := w.lastUse(last); got != areatest.Start {
		t.Errorf("the use of the last key was not written: %d", got)
	}
}

func TestALaterUseStays(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	// Two replicas; the second one is behind.
	first, second := w.uses, apikeys.NewUses(apikeys.UsesConfig{Store: w.Store, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	first.Note(id, areatest.Start+100)
	second.Note(id, areatest.Start+50)
	w.flush(first)
	w.flush(second)
	if got := w.lastUse(id); got != areatest.Start+100 {
		t.Errorf("%d", got-areatest.Start)
	}
	second.Note(id, areatest.Start+200)
	w.flush(second)
	if got := w.lastUse(id); got != areatest.Start+200 {
		t.Errorf("%d", got-areatest.Start)
	}
	first.Note("apikey-gone-v1", areatest.Start)
	w.flush(first)
	if got := w.lastUse("apikey-gone-v1"); got != 0 {
		t.Error("the use of a key that is not there is written")
	}
}

func TestAUseThatCouldNotBeWrittenIsKept(t *testing.T) {
	w := newWorld(t)
	_, one := w.made(acctA, bob)
	_, two := w.made(acctA, bob)
	g := &gate{Store: w.Store, err: store.ErrUnavailable}
	u := apikeys.NewUses(apikeys.UsesConfig{Store: g, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	u.Note(one, areatest.Start)
	if err := u.Flush(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Fatal(err)
	}
	u.Note(two, areatest.Start+1)
	g.fail(nil)
	w.flush(u)
	if w.lastUse(one) != areatest.Start || w.lastUse(two) != areatest.Start+1 {
		t.Errorf("%d %d", w.lastUse(one), w.lastUse(two))
	}
}

// noting is a store in whose transactions a key is used again.
type noting struct {
	store.Store
	during func()
}

func (n noting) Transact(ctx context.Context, fn func(store.Tx) error) error {
	err := n.Store.Transact(ctx, fn)
	n.during()
	return err
}

func TestAUseDuringTheFlushIsNotLost(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	n := noting{Store: w.Store}
	var u *apikeys.Uses
	n.during = func() { u.Note(id, areatest.Start+9) }
	u = apikeys.NewUses(apikeys.UsesConfig{Store: &n, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	u.Note(id, areatest.Start)
	w.flush(u)
	n.during = func() {}
	w.flush(u)
	if got := w.lastUse(id); got != areatest.Start+9 {
		t.Errorf("%d", got-areatest.Start)
	}
}

// TestUsesAreBounded: what is remembered is, and what one transaction writes.
func TestUsesAreBounded(t *testing.T) {
	const most, batch = 20_000, 500
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	g := &gate{Store: w.Store}
	u := apikeys.NewUses(apikeys.UsesConfig{Store: g, Collections: w.Collections, Log: slog.New(slog.DiscardHandler)})
	for i := range most {
		u.Note(fmt.Sprintf("apikey-%05d-v1", i), areatest.Start)
	}
	u.Note(id, areatest.Start)                   // one too many
	u.Note("apikey-00000-v1", areatest.Start+10) // one that is remembered
	w.flush(u)
	if g.count() != most/batch || w.lastUse(id) != 0 {
		t.Errorf("%d transactions; %d", g.count(), w.lastUse(id))
	}
	u.Note(id, areatest.Start)
	w.flush(u)
	if w.lastUse(id) != areatest.Start {
		t.Error("after a flush there is no room")
	}
}

// TestRunWritesOnceAMinuteAndAtTheEnd, in a time of its own.
func TestRunWritesOnceAMinuteAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		fake := &counter{}
		u := apikeys.NewUses(apikeys.UsesConfig{
			Store: fake, Collections: records.NewCollections(), Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { u.Run(ctx); close(done) }()
		began := time.Now()
		for range 300 { // five minutes of one key in use
			u.Note("apikey-1-v1", resources.At(time.Now()))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		written, _ := fake.seen()
		if len(written) != 5 {
			t.Errorf("%d writes in five minutes", len(written))
		}
		last := began
		for _, moment := range written {
			if moment.Sub(last) > time.Minute {
				t.Errorf("%s without a write", moment.Sub(last))
			}
			last = moment
		}
		fake.fail(errors.New("no primary"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		written, _ = fake.seen()
		if len(written) != 7 || !strings.Contains(log.String(), "no primary") {
			t.Errorf("%d writes; log %q", len(written), log.String())
		}
		stop()
		<-done
		if after, alive := fake.seen(); len(after) != len(written)+1 || !alive {
			t.Errorf("%d writes at the end, with a live context: %t", len(after)-len(written), alive)
		}
	})
}

// counter is a store that notes when it is written to.
type counter struct {
	store.Store
	mu    sync.Mutex
	times []time.Time
	err   error
	alive bool
}

func (c *counter) Transact(ctx context.Context, _ func(store.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, time.Now())
	c.alive = ctx.Err() == nil
	return c.err
}

func (c *counter) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// seen is when it was written to, and whether the last one still had time.
func (c *counter) seen() (times []time.Time, alive bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.times), c.alive
}
