package ratelimit

import (
	"strings"
	"sync"
	"time"
)

// sample is how many buckets an eviction looks at.
const sample = 16

// bucketTable holds the buckets of the callers that were seen lately, at most limit.
type bucketTable struct {
	limit int

	mu      sync.Mutex
	buckets map[string]*bucket
}

// get returns the bucket of the key, and adds a full one if there is none.
func (t *bucketTable) get(key string, now time.Duration) *bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[key]
	if b == nil {
		if len(t.buckets) >= t.limit {
			t.evict(now)
		}
		b = &bucket{}
		t.buckets[strings.Clone(key)] = b
	}
	return b
}

// find returns the bucket of the key, nil if there is none.
func (t *bucketTable) find(key string) *bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buckets[key]
}

// evict removes the full buckets of a sample, since they equal new ones, and the one to be full
// soonest. mu is held.
func (t *bucketTable) evict(now time.Duration) {
	seen, soonest, name := 0, time.Duration(0), ""
	for key, b := range t.buckets { // the order is random
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
