package authzen

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
)

// maxCandidates bounds how many candidates a page judges. A page that meets the bound is shorter than its
// limit, and others follow.
const maxCandidates = 4000

// candidate is what a search may give, with the question that decides on it.
type candidate struct {
	place  Place
	tuple  Tuple
	result result
}

// walk is one page of a search in the making. It holds the candidates that evaluation allows.
type walk struct {
	limit   int
	results []result
	// last is the last candidate done with; more says whether others may follow.
	last     Place
	more     bool
	judged   int
	revision int64
}

func (q *search) newWalk() walk { return walk{limit: q.limit, results: []result{}, last: q.start} }

// walk takes candidates until the page is full or they end; read gives the next ones after a place. The page is shorter
// if it meets maxCandidates, or if the account changed between two reads: a page is judged on one revision.
func (q *search) walk(ctx context.Context, read func(after Place, size int) (chunk, error)) (walk, error) {
	w := q.newWalk()
	for size := w.limit + 1; ; {
		c, err := read(w.last, size)
		switch {
		case err != nil:
			return w, err
		case w.judged > 0 && (c.revision != w.revision || len(c.candidates) > 0 && w.judged >= maxCandidates):
			w.more = true
			return w, nil
		}
		w.revision = c.revision
		if err := q.take(ctx, &w, c); err != nil || w.more || len(c.candidates) < size {
			return w, err
		}
		size = min(2*size, maxLimit, max(1, maxCandidates-w.judged)) // where few are allowed, a small page takes few reads
	}
}

// take judges a chunk of candidates in order and adds the allowed ones to the page. It ends at the first allowed candidate
// beyond the page, and notes that there are more. The error is of KindForbidden or KindUnavailable, or of KindBadRequest for
// a malformed question.
func (q *search) take(ctx context.Context, w *walk, c chunk) error {
	candidates, last := c.candidates, error(nil)
	_, err := c.judge.Judge(ctx, q.call.Caller, q.call.Row, c.questions, func(o *verdict.Outcome) bool {
		candidate := candidates[0]
		candidates = candidates[1:]
		switch {
		case o.Err != nil:
			last = o.Err
			return true
		case o.Allowed && len(w.results) == w.limit:
			w.more = true
			return true
		case o.Allowed:
			w.results = append(w.results, candidate.result)
		}
		w.last = candidate.place
		w.judged++
		return false
	})
	return cmp.Or(err, last)
}
