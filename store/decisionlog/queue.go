package decisionlog

import (
	"cmp"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Bounds of what waits to be written. A batch beside which nothing waits may have more verdicts, and not
// more bytes.
const (
	maxWaiting      = 16_384
	maxWaitingBytes = 64 << 20
)

// maxTurn is about how many verdicts are written together: a verdict that comes alone waits for no more.
const maxTurn = 4096

// entry is what one call of Record has to be written.
type entry struct {
	judgements []*resources.Judgement
	owner      string
	bytes      int
	// done is closed when the verdicts are on disk, or will never be, by err; nil where nobody waits.
	done chan struct{}
	err  error
}

// newEntry measures verdicts. It is about how many bytes of them callers choose: an app's questions and answers, and
// names and arguments of calls.
func newEntry(judgements []*resources.Judgement, waits bool) *entry {
	e := &entry{judgements: judgements, owner: ownerOf(judgements[0])}
	for _, j := range judgements {
		if a := j.Question.App; a != nil {
			e.bytes += len(a.Subject) + len(a.Action) + len(a.Resource) + len(a.Context)
		}
		for _, m := range j.Context {
			e.bytes += len(m.Value)
		}
		if j.Call != nil {
			e.bytes += len(j.Call.Name) + len(j.Call.Arguments)
		}
		if e.owner != ownerOf(j) {
			e.owner = j.Question.Principal.ID // a service's, about several accounts
		}
	}
	if waits {
		e.done = make(chan struct{})
	}
	return e
}

// ownerOf returns the caller's account, and for a service the account in question.
func ownerOf(j *resources.Judgement) string {
	return cmp.Or(j.Question.Principal.AccountID, j.Question.AccountID)
}

func (e *entry) batch() bool { return len(e.judgements) > 1 }

// finish lets the caller go on that waits.
func (e *entry) finish(err error) {
	if e.done != nil {
		e.err = err
		close(e.done)
	}
}

// queue holds what waits to be written. In a full queue single verdicts go before batches, and nobody takes room from an
// owner with less. It is not safe for concurrent use.
type queue struct {
	// singles are verdicts that came alone, in their order.
	singles []*entry
	// owners have something that waits, turns those with batches, the next one first.
	owners map[string]*share
	turns  []*share

	verdicts, bytes int
}

// share is what waits of one owner.
type share struct {
	owner           string
	batches         []*entry
	verdicts, bytes int
}

// load is the part of the queue's bounds that verdicts take.
func load(verdicts, bytes int) float64 {
	return max(float64(verdicts)/maxWaiting, float64(bytes)/maxWaitingBytes)
}

// put adds an entry, and returns those that it evicts; ok is false for an entry without room.
func (q *queue) put(e *entry) (evicted []*entry, ok bool) {
	part := q.owners[e.owner]
	if part == nil {
		part = &share{owner: e.owner}
	}
	for q.verdicts > 0 && q.verdicts+len(e.judgements) > maxWaiting || q.bytes+e.bytes > maxWaitingBytes {
		out := q.evict(part, e)
		if out == nil {
			return evicted, false
		}
		evicted = append(evicted, out)
	}
	if q.owners == nil {
		q.owners = map[string]*share{}
	}
	q.owners[e.owner] = part
	q.count(part, e, 1)
	if !e.batch() {
		q.singles = append(q.singles, e)
		return evicted, true
	}
	if len(part.batches) == 0 {
		q.turns = append(q.turns, part)
	}
	part.batches = append(part.batches, e)
	return evicted, true
}

// count adds an entry to what waits, or takes it away.
func (q *queue) count(s *share, e *entry, sign int) {
	n, bytes := sign*len(e.judgements), sign*e.bytes
	q.verdicts, q.bytes = q.verdicts+n, q.bytes+bytes
	s.verdicts, s.bytes = s.verdicts+n, s.bytes+bytes
	if s.verdicts == 0 {
		delete(q.owners, s.owner)
	}
}

// evict removes an entry that gives way to e, the newest one of its owner, and returns it; nil for none. A batch gives way
// to a single verdict, unless the verdict's owner would have more than half. Otherwise an entry gives way to an owner who
// would still have less.
func (q *queue) evict(part *share, e *entry) *entry {
	if load(len(e.judgements), e.bytes) > 1 {
		return nil
	}
	would := load(part.verdicts+len(e.judgements), part.bytes+e.bytes)
	loser := q.heaviest(func(s *share, weight float64) bool {
		return len(s.batches) > 0 && (s != part && weight > would || !e.batch() && (s == part || would <= 0.5))
	})
	if loser == nil {
		loser = q.heaviest(func(s *share, weight float64) bool {
			return s != part && weight > would && (!e.batch() || weight > 0.5)
		})
	}
	if loser == nil {
		return nil
	}
	return q.newest(loser)
}

// heaviest returns the share with the largest load among those that give way, nil for none.
func (q *queue) heaviest(givesWay func(s *share, weight float64) bool) (loser *share) {
	most := 0.0
	for _, s := range q.owners {
		if weight := load(s.verdicts, s.bytes); weight > most && givesWay(s, weight) {
			loser, most = s, weight
		}
	}
	return loser
}

// newest takes away the newest batch of an owner, or else the newest verdict.
func (q *queue) newest(s *share) (out *entry) {
	if n := len(s.batches); n > 0 {
		out, s.batches = s.batches[n-1], s.batches[:n-1]
		if n == 1 {
			q.turns = slices.DeleteFunc(q.turns, func(other *share) bool { return other == s })
		}
	} else {
		for i, e := range slices.Backward(q.singles) {
			if e.owner == s.owner {
				out, q.singles = e, slices.Delete(q.singles, i, i+1)
				break
			}
		}
	}
	q.count(s, out, -1)
	return out
}

// take removes the entries of the next write: single verdicts first, then batches, one of each owner in turn.
func (q *queue) take() (out []*entry) {
	out, q.singles = q.singles, nil
	n := len(out)
	for n < maxTurn && len(q.turns) > 0 {
		s := q.turns[0]
		e := s.batches[0]
		q.turns, s.batches = q.turns[1:], s.batches[1:]
		if len(s.batches) > 0 {
			q.turns = append(q.turns, s)
		}
		out, n = append(out, e), n+len(e.judgements)
	}
	for _, e := range out {
		q.count(q.owners[e.owner], e, -1)
	}
	return out
}
