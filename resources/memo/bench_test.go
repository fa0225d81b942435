package memo_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources/memo"
)

// BenchmarkGet is a look at a table of 100,000 values.
func BenchmarkGet(b *testing.B) {
	table := memo.New[int](1 << 18) // half full: none is pushed out
	keys := make([][]byte, 100_000)
	for i := range keys {
		keys[i] = []byte(key(i))
		table.Put(key(i), i)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if table.Get(keys[i]) == nil {
			b.Fatalf("key %d is gone", i)
		}
		i = (i + 7919) % len(keys)
	}
}
