package engine

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources/memo"
)

const (
	// DefaultVerdicts is how many verdicts are cached where Options do not say.
	DefaultVerdicts = 1 << 18
	// maxVerdict bounds the bytes of one key, its code and its reason: a question with a path
	// of kilobytes is evaluated each time.
	maxVerdict = 1024
)

// cache holds the verdicts of one set, never its failures, and goes with it: it has none of another tree. A verdict is a
// pure function of its whole key (policies/question), and can't be stale. nil caches none.
type cache[D any] struct{ table *memo.Table[string, D] }

func newCache[D any](most int) *cache[D] {
	if most <= 0 {
		return nil
	}
	return &cache[D]{memo.New[string, D](most)}
}

// get returns the verdict of a key; false is a miss, as for a caller whose context has ended.
func (c *cache[D]) get(ctx context.Context, key []byte) (d D, hit bool) {
	if c == nil || key == nil || ctx.Err() != nil {
		return d, false
	}
	stored := memo.GetBytes(c.table, key)
	if stored == nil {
		return d, false
	}
	return *stored, true
}

// put caches a verdict of so many bytes, unless it is too large.
func (c *cache[D]) put(key []byte, d D, size int) {
	if c != nil && key != nil && len(key)+size <= maxVerdict {
		c.table.Put(string(key), d)
	}
}

// CachedVerdicts returns how many verdicts are cached, and how many may be.
func (e *Engine) CachedVerdicts() (entries, room int) {
	if v := e.current.Load().verdicts; v != nil {
		return v.table.Len(), v.table.Room()
	}
	return 0, 0
}
