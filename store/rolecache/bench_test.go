package rolecache_test

import (
	"testing"
)

// BenchmarkColdFacts measures a cache miss before an embedded store: a user's facts were evicted, and the account's
// shared values are cached.
func BenchmarkColdFacts(b *testing.B) {
	const users = 1000 // ten times the room of the cache, so that each question is a miss
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

// BenchmarkWarmFacts measures cache hits on all processors.
func BenchmarkWarmFacts(b *testing.B) {
	const users = 1000
	s := newSharing(b, users, 4*users)
	ctx, names := b.Context(), make([]string, users)
	ask := func(i int) {
		if _, err := s.cache.Facts(ctx, account, names[i%users], "proj-p-v1"); err != nil {
			b.Error(err)
		}
	}
	for i := range names {
		names[i] = member(i)
		ask(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			ask(i)
		}
	})
}
