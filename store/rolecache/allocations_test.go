//go:build !race

package rolecache_test

// The race detector allocates.

import "testing"

// TestWarmFactsAllocateNothing guarantees that cache hits allocate nothing, before a store in this process.
func TestWarmFactsAllocateNothing(t *testing.T) {
	w := local(t)
	ctx := t.Context()
	got := testing.AllocsPerRun(100, func() {
		if _, err := w.cache.Facts(ctx, account, user, "proj-p-v1"); err != nil {
			t.Fatal(err)
		}
		if _, exists, err := w.cache.Identify(ctx, user, true, false); err != nil || !exists {
			t.Fatal(exists, err)
		}
	})
	if got > 0 {
		t.Errorf("%.0f allocations", got)
	}
}
