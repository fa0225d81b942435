package engine

import (
	"sort"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

const (
	// DefaultMemo is how many verdicts are kept where Options do not say.
	DefaultMemo = 1 << 18
	// maxRemembered bounds the bytes of one key, its code and its reason: a question with a path
	// of kilobytes is judged anew each time.
	maxRemembered = 1024
)

// verdicts are those of one compiled set, and go with it: a verdict of another tree can't
// be found. They are answers only, no failures. A verdict is found by its whole key
// (key.go), of which it is a pure function, so that it can't be stale.
type verdicts = memo.Table[string, resources.Decision]

// remember copies what it keeps: a code or a reason can be part of the question, whose strings are
// the caller's.
func (s *Set) remember(key []byte, d resources.Decision) {
	if len(key)+len(d.Code)+len(d.Reason) > maxRemembered {
		return
	}
	d.Code, d.Reason = strings.Clone(d.Code), strings.Clone(d.Reason)
	s.memo.Put(string(key), d)
}

// period is how many of the subject's ends have come: as long as it is the same, every
// comparison of the time with one of them is, and the same assignments run.
func (p *preparedSubject) period(now resources.Time) int {
	return sort.Search(len(p.ends), func(i int) bool { return now < p.ends[i] })
}

// until is when the next end comes, after which an equal question may have another answer.
func (p *preparedSubject) until(now resources.Time) resources.Time {
	if next := p.period(now); next < len(p.ends) {
		return p.ends[next]
	}
	return never
}
