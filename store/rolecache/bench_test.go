package rolecache_test

import (
	"testing"
)

// BenchmarkColdFacts asks an embedded store about a user whose facts were evicted, in an account
// of which others are cached.
func BenchmarkColdFacts(b *testing.B) {
	const users = 1000 // more than there is room for, so that each is a miss when their turn comes again
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

// BenchmarkWarmFacts asks about users and projects that are cached, on all processors.
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
