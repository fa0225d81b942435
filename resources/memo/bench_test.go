package memo_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources/memo"
)

// benchKeys are 100,000 keys of a half full table: none is evicted.
const benchKeys, benchRoom = 100_000, 1 << 18

// BenchmarkGet is a hit, by a key in a buffer.
func BenchmarkGet(b *testing.B) {
	table := memo.New[string, int](benchRoom)
	keys := make([][]byte, benchKeys)
	for i := range keys {
		keys[i] = []byte(key(i))
		table.Put(key(i), i)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if memo.GetBytes(table, keys[i]) == nil {
			b.Fatalf("key %d is gone", i)
		}
		i = (i + 7919) % len(keys)
	}
}

// named is a key of several fields, as the cache of facts has them.
type named struct {
	generation, account string
	revision            int64
	id                  string
}

func name(i int) named { return named{"a generation", "acct-a-v1", 7, key(i)} }

// BenchmarkGetByFields is a hit, by a key of several fields, on all processors.
func BenchmarkGetByFields(b *testing.B) {
	table := memo.New[named, int](benchRoom)
	keys := make([]named, benchKeys)
	for i := range keys {
		keys[i] = name(i)
		table.Put(keys[i], i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i = (i + 7919) % len(keys) {
			if table.Get(keys[i]) == nil {
				b.Errorf("key %d is gone", i)
			}
		}
	})
}

// BenchmarkPut is a new entry, which evicts another.
func BenchmarkPut(b *testing.B) {
	table := memo.New[named, int](benchKeys / 2)
	keys := make([]named, benchKeys)
	for i := range keys {
		keys[i] = name(i)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		table.Put(keys[i], i)
		i = (i + 7919) % len(keys)
	}
}
