package authzen

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/original"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Questions has what the doors of this package judge with. All of its fields are needed.
type Questions struct {
	Batches *verdict.Batches
	// Calls find the rows of resources of type route.
	Calls *original.Calls
}

// Evaluation answers `POST /access/v1/evaluation`.
type Evaluation struct{ Questions }

// Answer implements doors.Door: 400 with all problems of the question, 403 for a caller who may not
// ask it, 503 where there is no verdict.
func (d Evaluation) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	var q Tuple
	if err := read(c, &q, func(*reader, string) bool { return false }); err != nil {
		return doors.Answer{}, err
	}
	return d.single(ctx, c, &q)
}

// single answers one question.
func (d Questions) single(ctx context.Context, c doors.Call, q *Tuple) (doors.Answer, error) {
	t := translator{d.Batches.Begin(c.Caller, c.Route), d.Calls}
	item, err := t.item(ctx, q)
	if err != nil {
		return doors.Answer{}, err
	}
	a := doors.Answer{Status: 200, Question: item.Question}
	outcome := verdict.Outcome{Err: errNotAsked}
	if err := t.Ask(ctx, []verdict.Item{item}, func(o verdict.Outcome) bool { outcome = o; return true }); err != nil {
		return a, err
	}
	a.Verdict = outcome.Verdict
	if outcome.Err != nil {
		return a, outcome.Err
	}
	a.Body = appendOutcome(nil, &item, outcome)
	return a, nil
}

// TakesAnyRequestID implements doors.AnyRequestID (Authorization API 1.0, 10.1.4).
func (Questions) TakesAnyRequestID() {}

// Unavailable implements doors.Door: the body is the area's.
func (Questions) Unavailable(error) []byte { return nil }

// DefaultMost is how many evaluations a batch may have where nobody says otherwise.
const DefaultMost = 1000

// Evaluations answers `POST /access/v1/evaluations`.
type Evaluations struct {
	Questions
	// Most is how many evaluations a batch may have.
	Most int
	// Turns bounds the batches that are judged at once: a large one needs a processor for as long as thousands of single
	// questions whose answers are cached.
	Turns Turns
}

// Turns lets accounts take turns (resources/gate). Each Enter without an error needs one Leave.
type Turns interface {
	Enter(ctx context.Context, account string) error
	Leave()
}

// Answer implements doors.Door: as Evaluation without evaluations, else one answer for each of them, 400
// for what is wrong with the body as a whole, 429 for more than the caller's rates allow, 503 where the
// facts can't be had.
func (d Evaluations) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	b := batch{most: d.Most, semantic: executeAll}
	if err := read(c, &b.Tuple, b.member); err != nil {
		return doors.Answer{}, err
	}
	if !b.several {
		return d.single(ctx, c, &b.Tuple)
	}
	if len(b.Problems) > 0 {
		return doors.Answer{}, resources.BadRequest(b.Problems...)
	}
	if err := c.Rates.Charge(len(b.items) - 1); err != nil { // one is charged for each call
		return doors.Answer{}, err
	}
	if err := d.Turns.Enter(ctx, c.Caller.ID); err != nil { // a service has no other turns than its own
		return doors.Answer{}, err
	}
	defer d.Turns.Leave()
	return d.batch(ctx, c, &b)
}

// batch answers all questions of a batch, or as many as its semantic wants.
func (d Evaluations) batch(ctx context.Context, c doors.Call, b *batch) (doors.Answer, error) {
	t := translator{d.Batches.Begin(c.Caller, c.Route), d.Calls}
	items := make([]verdict.Item, len(b.items))
	for i := range b.items {
		b.items[i].inherit(&b.Tuple)
	}
	if err := t.findHomes(ctx, b.items); err != nil {
		return doors.Answer{}, err
	}
	for i := range b.items {
		var err error
		if items[i], err = t.item(ctx, &b.items[i]); err != nil {
			return doors.Answer{}, err
		}
	}
	a := doors.Answer{Status: 200, Question: common(items)}
	all := answers{body: append(make([]byte, 0, len(items)*answerRoom), `{"evaluations":[`...)}
	err := t.Ask(ctx, items, func(o verdict.Outcome) bool {
		allowed := all.add(&items[all.given], o)
		return b.semantic == executeAll || allowed != (b.semantic == firstPermits)
	})
	if err != nil {
		return a, err
	}
	a.Body = append(all.body, "]}"...)
	a.Verdict.Allowed, a.Verdict.Reason = all.allowed == all.given, fmt.Sprintf("%d of %d allowed", all.allowed, all.given)
	a.Verdict.PolicyRevision = t.Revision()
	return a, nil
}

// answers are those of a batch, as far as they are given.
type answers struct {
	body           []byte
	given, allowed int
}

// add adds the answer of an item and says whether it allows.
func (a *answers) add(item *verdict.Item, o verdict.Outcome) bool {
	if a.given > 0 {
		a.body = append(a.body, ',')
	}
	a.body = appendOutcome(a.body, item, o)
	a.given++
	if o.Err != nil || !o.Allowed {
		return false
	}
	a.allowed++
	return true
}

// answerRoom is the size of an ordinary decision in bytes.
const answerRoom = 256

// common returns what all questions of a batch, of which there is one at least, have in common, for the record.
func common(items []verdict.Item) verdict.Question {
	q := items[0].Question
	for i := range items[1:] {
		other := &items[1+i].Question
		if other.SubjectID != q.SubjectID {
			q.SubjectID = ""
		}
		if other.AccountID != q.AccountID {
			q.AccountID = ""
		}
		if other.Action.ID != q.Action.ID {
			q.Action = resources.Action{}
		}
	}
	return q
}
