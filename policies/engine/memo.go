package engine

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// defaultMemo is how many verdicts are kept.
	defaultMemo = 1 << 18
	// maxRemembered bounds the bytes of one key and its reason: a question with a path
	// of kilobytes is judged anew each time.
	maxRemembered = 1024
	ways          = 8
)

// memo holds the verdicts of one compiled set, and goes with it: a verdict of another
// tree can't be found. It holds answers only, no failure. A verdict is found by its
// whole key (key.go), of which it is a pure function, so that it can't be stale.
//
// It is a table of buckets of eight. A look takes no lock; where there is no room, a
// verdict makes it that was not asked for since the last time.
type memo struct {
	seed  maphash.Seed
	slots []atomic.Pointer[verdict]
	turn  atomic.Uint32
}

// verdict never changes but for the mark.
type verdict struct {
	key      string
	decision resources.Decision
	wanted   atomic.Bool // since it was last passed over
}

// newMemo has room for that many verdicts, or for eight.
func newMemo(entries int) *memo {
	return &memo{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[verdict], max(entries/ways, 1)*ways)}
}

// buckets are the two in which a key may be: what finds the first full goes to the
// second, so that few are pushed out before the table is nearly full.
func (m *memo) buckets(key []byte) [2][]atomic.Pointer[verdict] {
	hash, n := maphash.Bytes(m.seed, key), uint64(len(m.slots)/ways)
	first, _ := bits.Mul64(hash, n)
	second, _ := bits.Mul64(bits.RotateLeft64(hash, 32), n)
	return [2][]atomic.Pointer[verdict]{m.slots[first*ways:][:ways], m.slots[second*ways:][:ways]}
}

func (m *memo) get(key []byte) (resources.Decision, bool) {
	for _, bucket := range m.buckets(key) {
		for i := range bucket {
			v := bucket[i].Load()
			if v == nil { // a bucket fills from its start and is never emptied
				return resources.Decision{}, false
			}
			if v.key == string(key) {
				if !v.wanted.Load() { // the line of memory stays shared
					v.wanted.Store(true)
				}
				return v.decision, true
			}
		}
	}
	return resources.Decision{}, false
}

// put copies what it keeps: a reason can be part of the question, whose strings are
// the caller's.
func (m *memo) put(key []byte, d resources.Decision) {
	if len(key)+len(d.Reason) > maxRemembered {
		return
	}
	d.Reason = strings.Clone(d.Reason)
	fresh, buckets := &verdict{key: string(key), decision: d}, m.buckets(key)
	for _, bucket := range buckets {
		for i := range bucket {
			if v := bucket[i].Load(); v == nil || v.key == fresh.key {
				bucket[i].Store(fresh)
				return
			}
		}
	}
	turn := m.turn.Add(1)
	bucket, first := buckets[turn%2], turn/2
	at := &bucket[first%ways]
	for i := range uint32(ways) {
		if next := &bucket[(first+i)%ways]; !next.Load().wanted.Swap(false) {
			at = next
			break
		}
	}
	at.Store(fresh)
}
