package rolecache_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestOneReadForAllWhoAskAtOnce guarantees that all concurrent callers wait for one read, of a user's facts or of a
// revision, before a store in the process or another one. A read without an answer fails all of them, and the next
// caller reads anew.
func TestOneReadForAllWhoAskAtOnce(t *testing.T) {
	worlds := map[string]func(*testing.T) *world{"local": local, "over the network": newWorld}
	ends := map[string]func(){"answer": nil, "panic": func() { panic("broken") }, "exit": runtime.Goexit}
	for where, world := range worlds {
		for how, end := range ends {
			for _, listed := range []bool{true, false} {
				t.Run(where+", "+how, func(t *testing.T) {
					w := world(t)
					if !listed {
						w.changes = noList
					}
					synctest.Test(t, func(t *testing.T) { askTogether(t, w, end) })
				})
			}
		}
	}
}

func askTogether(t *testing.T, w *world, end func()) {
	const callers = 10
	var views, answers, failures atomic.Int64
	view, release := w.view, make(chan struct{})
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if views.Add(1) > 1 {
			return view(ctx, fn)
		}
		<-release
		if end != nil {
			end()
		}
		return view(ctx, fn)
	}
	for range callers {
		go func() {
			if facts, err := w.cache.Facts(t.Context(), account, user, ""); err == nil && facts.Subject.UserStatus == "ACTIVE" {
				answers.Add(1)
			} else if err != nil {
				failures.Add(1)
			}
		}()
	}
	synctest.Wait()
	if n := views.Load(); n != 1 {
		t.Errorf("%d reads at once", n)
	}
	close(release)
	synctest.Wait()
	ok, failed := answers.Load(), failures.Load()
	switch {
	case end == nil && (ok != callers || failed != 0):
		t.Errorf("%d answers and %d errors", ok, failed)
	case end != nil && (ok != 0 || failed < callers-1): // the caller whose goroutine exits counts neither
		t.Errorf("a read without an answer: %d answers and %d errors", ok, failed)
	}
	if facts, err := w.cache.Facts(t.Context(), account, user, ""); err != nil || facts.Subject.UserStatus != "ACTIVE" {
		t.Errorf("afterwards: %+v, %v", facts, err)
	}
}

// TestNobodyWaitsForTheTurnOfOthers guarantees that callers of one account never share a read with a caller from
// another account, since it waits for turns of its own account. A service reads in the turn of the account in its
// question.
func TestNobodyWaitsForTheTurnOfOthers(t *testing.T) {
	for _, listed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, reads := newWorld(t), gate.New(1, 9)
			if !listed {
				w.changes = noList
			}
			turn := make(chan struct{}) // lets one read end
			w.view = func(ctx context.Context, fn func(store.Tx) error) error {
				<-turn
				return w.tellView(ctx, fn)
			}
			w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 10, Reads: reads, Local: true})
			must.Do(t, reads.TryEnter())
			var mu sync.Mutex
			var answered []string
			ask := func(name, turn, subject string) {
				go func() {
					ctx := t.Context()
					if turn != "" {
						ctx = context.WithValue(ctx, gate.AccountKey{}, turn)
					}
					if _, err := w.cache.Facts(ctx, subject, user, ""); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					answered = append(answered, name)
				}()
				synctest.Wait()
			}
			for _, subject := range []string{"acct-1-v1", "acct-2-v1", "acct-3-v1", account} {
				ask("other", other, subject)
			}
			ask("own", account, account)
			ask("service", "", account)
			if waiting := reads.Waiting(); waiting != 5 {
				t.Errorf("%d wait, want 4 of the other account and 1 of the own", waiting)
			}
			reads.Leave()
			for synctest.Wait(); len(answered) < 6; synctest.Wait() {
				turn <- struct{}{}
			}
			if place := slices.Index(answered, "own"); place < 0 || place > 2 {
				t.Errorf("answered in the order %q", answered)
			}
		})
	}
}
