package rolecache_test

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// local returns a world with a store in the process.
func local(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 1000, Local: true})
	return w
}

// TestALocalStoreIsAskedByEachQuestion guarantees that each question sees the change before it, also in another
// generation, and fails if the store does.
func TestALocalStoreIsAskedByEachQuestion(t *testing.T) {
	w := local(t)
	for _, status := range []string{"SUSPENDED", "ACTIVE", "INACTIVE"} {
		w.set(user, func(u *resources.User) { u.Status = status })
		for range 2 {
			if got := w.status(); got != status {
				t.Errorf("%s, want %s", got, status)
			}
		}
	}
	views := w.counted()
	w.generation = "two"
	w.set(user, func(u *resources.User) { u.Status = "ACTIVE" })
	if got := w.status(); got != "ACTIVE" || views.Load() == 0 {
		t.Errorf("another generation: %s, %d reads", got, views.Load())
	}
	w.freshness = func(context.Context) (store.Freshness, error) { return store.Freshness{}, errBroken }
	if _, err := w.cache.Facts(t.Context(), account, user, ""); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// TestALocalStoresQuestionWaitsForNoOther guarantees that a question does not wait for the barrier of another one.
func TestALocalStoresQuestionWaitsForNoOther(t *testing.T) {
	w := local(t)
	w.status()
	tell, held, asked := w.freshness, make(chan struct{}), make(chan struct{}, 1)
	w.freshness = func(ctx context.Context) (store.Freshness, error) {
		if ctx.Value(held) != nil {
			asked <- struct{}{}
			<-held
		}
		return tell(ctx)
	}
	done := make(chan error)
	go func() {
		_, err := w.cache.Facts(context.WithValue(t.Context(), held, true), account, user, "")
		done <- err
	}()
	<-asked
	w.status()
	close(held)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
