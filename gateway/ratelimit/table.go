package ratelimit

import (
	"strings"
	"sync"
	"time"
)

// sample is how many buckets are looked at to make room for one.
const sample = 16

// table holds the buckets of those who were seen lately.
type table struct {
	most int

	mu      sync.Mutex
	buckets map[string]*bucket
}

// get gives the bucket of the key, a full one where there is none.
func (t *table) get(key string, now time.Duration) *bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[key]
	if b == nil {
		if len(t.buckets) >= t.most {
			t.makeRoom(now)
		}
		b = &bucket{}
		t.buckets[strings.Clone(key)] = b
	}
	return b
}

// find gives the bucket of the key, nil where there is none.
func (t *table) find(key string) *bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buckets[key]
}

// makeRoom drops the buckets of a sample that are full, as new ones are, or else the one
// that is so soonest. The lock is held.
func (t *table) makeRoom(now time.Duration) {
	seen, soonest, name := 0, time.Duration(0), ""
	for key, b := range t.buckets { // in no order: a sample
		full := time.Duration(b.full.Load())
		if full <= now {
			delete(t.buckets, key)
		}
		if seen == 0 || full < soonest {
			soonest, name = full, key
		}
		if seen++; seen == sample {
			break
		}
	}
	delete(t.buckets, name)
}
