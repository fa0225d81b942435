package rolecache_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/portcullis-authz/portcullis/store"
)

// TestOneReadForAllWhoAskAtOnce guarantees that whoever asks what somebody is reading waits for that, on a store
// in the process and on another, for a user's facts and for a revision; that what ends without an answer is an error to all
// of them; and that the next question is read anew.
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
	case end != nil && (ok != 0 || failed < callers-1): // whose goroutine ends has neither
		t.Errorf("a read without an answer: %d answers and %d errors", ok, failed)
	}
	if facts, err := w.cache.Facts(t.Context(), account, user, ""); err != nil || facts.Subject.UserStatus != "ACTIVE" {
		t.Errorf("afterwards: %+v, %v", facts, err)
	}
}
