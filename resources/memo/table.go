package memo

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ways is how many entries a bucket holds.
const ways = 8

// Table is a cache of a bounded number of entries. It is safe for concurrent use: Get takes no
// lock, and writes take their turns.
type Table[K comparable, V any] struct {
	seed    maphash.Seed
	buckets []bucket[K, V]

	mu   sync.Mutex // held by writes
	turn int        // moves on with each eviction
}

// bucket is where some keys may be. A mark is a part of the key's hash, never 0: it spares most
// looks at the entries of other keys.
type bucket[K comparable, V any] struct {
	marks [ways]atomic.Uint32
	slots [ways]atomic.Pointer[entry[K, V]]
}

// entry is immutable but for hit.
type entry[K comparable, V any] struct {
	hit   atomic.Bool // since an eviction last passed over the entry
	key   K
	value V
}

// New returns an empty table with room for that many entries, rounded down to a multiple of eight,
// and at least eight.
func New[K comparable, V any](entries int) *Table[K, V] {
	return &Table[K, V]{seed: maphash.MakeSeed(), buckets: make([]bucket[K, V], max(entries/ways, 1))}
}

// place returns the two buckets of a key, and its mark.
func (t *Table[K, V]) place(key K) (first, second *bucket[K, V], mark uint32) {
	hash, n := maphash.Comparable(t.seed, key), uint64(len(t.buckets))
	one, _ := bits.Mul64(hash, n)
	two, _ := bits.Mul64(bits.RotateLeft64(hash, 32), n)
	return &t.buckets[one], &t.buckets[two], uint32(hash>>16) | 1 //nolint:gosec // the middle bits, which hardly depend on the bucket
}

// Get returns the value of the key, nil on a miss. The value is shared: callers do not change it.
func (t *Table[K, V]) Get(key K) *V {
	first, second, mark := t.place(key)
	if v := first.get(key, mark); v != nil {
		return v
	}
	return second.get(key, mark)
}

// GetBytes is Get for a key that is still in a buffer: it makes no string of it.
func GetBytes[V any](t *Table[string, V], key []byte) *V {
	return t.Get(unsafe.String(unsafe.SliceData(key), len(key))) //nolint:gosec // Get keeps no key, and the buffer does not change meanwhile
}

// get returns the value of the key, nil if it is not in the bucket.
func (b *bucket[K, V]) get(key K, mark uint32) *V {
	for i := range b.marks {
		if b.marks[i].Load() != mark {
			continue
		}
		e := b.slots[i].Load()
		if e == nil || e.key != key { // another key with that mark, or a write is under way
			continue
		}
		if !e.hit.Load() { // only the first hit writes to memory that other processors read
			e.hit.Store(true)
		}
		return &e.value
	}
	return nil
}

// Put stores the value under the key, in place of the key's former value. The table keeps both.
func (t *Table[K, V]) Put(key K, value V) {
	first, second, mark := t.place(key)
	e := &entry[K, V]{key: key, value: value}
	t.mu.Lock()
	defer t.mu.Unlock()
	b, index, free := first, 0, 0
	for _, candidate := range [...]*bucket[K, V]{first, second} {
		slot, room := candidate.room(key, mark)
		if room > free {
			b, index, free = candidate, slot, room
		}
	}
	if free == 0 {
		b, index = t.evict(first, second)
	}
	b.slots[index].Store(e)
	b.marks[index].Store(mark)
}

// room returns the slot for the key's entry and how many slots are free. The key's own slot
// counts for more than any number of free ones.
func (b *bucket[K, V]) room(key K, mark uint32) (slot, free int) {
	for i := range b.slots {
		switch e := b.slots[i].Load(); {
		case e == nil:
			slot, free = i, free+1
		case b.marks[i].Load() == mark && e.key == key:
			return i, ways + 1
		}
	}
	return slot, free
}

// evict chooses a slot of two full buckets, in turns: the next one without a hit or, if all had
// one, the one it began with. t.mu is held.
func (t *Table[K, V]) evict(first, second *bucket[K, V]) (b *bucket[K, V], slot int) {
	t.turn++
	b, start := [...]*bucket[K, V]{first, second}[t.turn%2], t.turn/2%ways
	for i := range ways {
		if next := (start + i) % ways; !b.slots[next].Load().hit.Swap(false) {
			return b, next
		}
	}
	return b, start
}

// Delete removes the key's entry.
func (t *Table[K, V]) Delete(key K) {
	first, second, mark := t.place(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range [...]*bucket[K, V]{first, second} {
		if slot, free := b.room(key, mark); free > ways {
			b.slots[slot].Store(nil)
		}
	}
}

// Clear removes all entries.
func (t *Table[K, V]) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for b := range t.buckets {
		for i := range t.buckets[b].slots {
			t.buckets[b].slots[i].Store(nil)
		}
	}
}

// Len returns how many entries there are. It looks at all of them.
func (t *Table[K, V]) Len() (n int) {
	for i := range t.buckets {
		for j := range t.buckets[i].slots {
			if t.buckets[i].slots[j].Load() != nil {
				n++
			}
		}
	}
	return n
}

// Room returns how many entries there may be.
func (t *Table[K, V]) Room() int { return len(t.buckets) * ways }
