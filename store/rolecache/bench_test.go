package rolecache_test

import (
	"testing"
)

// BenchmarkColdFacts asks, on an embedded store, about a user who was not asked about before, in an account of which
// others were.
func BenchmarkColdFacts(b *testing.B) {
	const users = 1000 // more than are kept, so that each is new when their turn comes again
	s := newSharing(b, users, users/10)
	ctx, names := b.Context(), make([]string, users)
	for i := range names {
		names[i] = member(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		facts, err := s.cache.Facts(ctx, account, names[i%users], "proj-p-v1")
		if err != nil || len(facts.Subject.Assignments) != 2 {
			b.Fatal(facts, err)
		}
	}
}
