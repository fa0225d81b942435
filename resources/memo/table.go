package memo

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

const ways = 8

// Table is a table of buckets of eight. A look takes no lock; where there is no room, an
// entry makes it that was not asked for since the last time. It may be used by many
// goroutines.
type Table[V any] struct {
	seed    maphash.Seed
	buckets []bucket[V]
	turn    atomic.Uint32
}

// bucket fills from its start and is never emptied. The marks tell most of what is not the
// one that is looked for without a look at it.
type bucket[V any] struct {
	marks [ways]atomic.Uint32 // never 0 where an entry is
	slots [ways]atomic.Pointer[entry[V]]
}

// entry never changes but for wanted.
type entry[V any] struct {
	wanted atomic.Bool // since it was last passed over
	key    string
	value  V
}

// New has room for that many entries, or for eight; they are rounded down to a multiple of
// eight.
func New[V any](entries int) *Table[V] {
	return &Table[V]{seed: maphash.MakeSeed(), buckets: make([]bucket[V], max(entries/ways, 1))}
}

// find gives the two buckets in which a key may be, and its mark. It goes to the emptier
// one, so that hardly any is pushed out before the table is nearly full.
func (t *Table[V]) find(key []byte) (first, second *bucket[V], mark uint32) {
	hash, n := maphash.Bytes(t.seed, key), uint64(len(t.buckets))
	one, _ := bits.Mul64(hash, n)
	two, _ := bits.Mul64(bits.RotateLeft64(hash, 32), n)
	return &t.buckets[one], &t.buckets[two], uint32(hash>>16) | 1 //nolint:gosec // the middle of it, which says little of either bucket
}

// Get gives the value of the key, nil where there is none. It is shared: nobody writes to it.
func (t *Table[V]) Get(key []byte) *V {
	first, second, mark := t.find(key)
	if v := first.get(key, mark); v != nil {
		return v
	}
	return second.get(key, mark)
}

func (b *bucket[V]) get(key []byte, mark uint32) *V {
	for i := range b.marks {
		if b.marks[i].Load() != mark {
			continue
		}
		e := b.slots[i].Load()
		if e == nil || e.key != string(key) { // the mark is another's, or its entry is not there yet
			continue
		}
		if !e.wanted.Load() { // the line of memory stays shared
			e.wanted.Store(true)
		}
		return &e.value
	}
	return nil
}

// Put remembers the value under the key, instead of what is there.
func (t *Table[V]) Put(key string, value V) {
	first, second, mark := t.find([]byte(key))
	fresh := &entry[V]{key: key, value: value}
	at, free := first.place(key)
	if other, more := second.place(key); more > free {
		first, at, free = second, other, more
	}
	if free > 0 {
		first.set(at, mark, fresh)
		return
	}
	turn := t.turn.Add(1)
	full, from := [...]*bucket[V]{first, second}[turn%2], int(turn/2%ways)
	at = from
	for i := range ways {
		if next := (from + i) % ways; !full.slots[next].Load().wanted.Swap(false) {
			at = next
			break
		}
	}
	full.set(at, mark, fresh)
}

// place is where the key's entry goes, and how free the bucket is: of one that has the key
// already, more than of any other.
func (b *bucket[V]) place(key string) (at, free int) {
	for i := range b.slots {
		e := b.slots[i].Load()
		if e == nil {
			return i, ways - i
		}
		if e.key == key {
			return i, ways + 1
		}
	}
	return 0, 0
}

// set puts an entry into a slot. Whoever looks meanwhile finds nothing, or compares the key.
func (b *bucket[V]) set(i int, mark uint32, e *entry[V]) {
	b.slots[i].Store(e)
	b.marks[i].Store(mark)
}
