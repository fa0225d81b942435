package engine

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

const (
	// DefaultVerdicts is how many verdicts are cached where Options do not say.
	DefaultVerdicts = 1 << 18
	// maxVerdict bounds the bytes of one key, its code and its reason: a question with a path
	// of kilobytes is evaluated each time.
	maxVerdict = 1024
)

// verdicts is the cache of one set's verdicts, and goes with it: a verdict of another tree can't
// be found. It holds answers only, no failures. A verdict is found by its whole key
// (policies/question), of which it is a pure function, so that it can't be stale. nil caches none.
type verdicts struct {
	table *memo.Table[string, resources.Decision]
}

func newVerdicts(most int) *verdicts {
	if most <= 0 {
		return nil
	}
	return &verdicts{memo.New[string, resources.Decision](most)}
}

func (v *verdicts) get(key []byte) *resources.Decision {
	if v == nil {
		return nil
	}
	return memo.GetBytes(v.table, key)
}

// put copies what it keeps: a code or a reason can be part of the question, whose strings are
// the caller's.
func (v *verdicts) put(key []byte, d resources.Decision) {
	if v == nil || key == nil || len(key)+len(d.Code)+len(d.Reason) > maxVerdict {
		return
	}
	d.Code, d.Reason = strings.Clone(d.Code), strings.Clone(d.Reason)
	v.table.Put(string(key), d)
}

// CachedVerdicts returns how many verdicts are cached, and how many may be.
func (e *Engine) CachedVerdicts() (entries, room int) {
	if v := e.current.Load().verdicts; v != nil {
		return v.table.Len(), v.table.Room()
	}
	return 0, 0
}
