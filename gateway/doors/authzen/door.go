package authzen

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Questions has what the doors of this package judge with.
type Questions struct {
	Judge *verdict.Judge
	// Observe is called with each decision on a question and the name of the route at which it was asked; nil observes
	// none.
	Observe func(route string, d *resources.Decision)
}

// Evaluation answers `POST /access/v1/evaluation`.
type Evaluation struct{ Questions }

// Answer implements doors.Door: 400 with all problems of the question, 403 if the caller may not ask it, 503 without a
// verdict.
func (d Evaluation) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	var q Tuple
	if err := read(c, &q, func(*reader, string) bool { return false }); err != nil {
		return doors.Answer{}, err
	}
	return d.single(ctx, &c, &q)
}

func (d Questions) single(ctx context.Context, c *doors.Call, tuple *Tuple) (doors.Answer, error) {
	t := newTranslator(d.Judge.Pinned(), c)
	q, err := t.question(ctx, tuple)
	if err != nil {
		return doors.Answer{}, err
	}
	asked := []resources.Question{q}
	keep(asked)
	a := doors.About(&asked[0])
	a.Outcome = t.judge.One(ctx, c.Caller, c.Row, asked[0])
	if a.Outcome.Err != nil {
		return a, a.Outcome.Err
	}
	d.observe(c, &a.Outcome)
	t.hide(tuple, &a.Outcome)
	a.Status, a.Body = 200, appendOutcome(nil, q.AccountID != "", &a.Outcome)
	return a, nil
}

// observe counts a decision.
func (d Questions) observe(c *doors.Call, o *verdict.Outcome) {
	if d.Observe != nil && o.Err == nil {
		d.Observe(c.Row.Route.Name, &o.Decision)
	}
}

// TakesAnyRequestID implements doors.AnyRequestID (Authorization API 1.0, 10.1.4).
func (Questions) TakesAnyRequestID() {}

// DefaultMost is how many evaluations a batch may have where nobody says otherwise.
const DefaultMost = 1000

// Evaluations answers `POST /access/v1/evaluations`.
type Evaluations struct {
	Questions
	// Most is how many evaluations a batch may have.
	Most int
	// Turns bounds how many batches are judged at once. A large batch keeps a processor as long as thousands of single
	// questions with cached answers.
	Turns doors.Turns
}

// Answer implements doors.Door: as Evaluation without evaluations, else one answer for each of them, 400
// for what is wrong with the body as a whole, 429 for more than the caller's rates allow, 503 if the
// facts can't be had.
func (d Evaluations) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	b := batch{most: d.Most, semantic: executeAll}
	if err := read(c, &b.Tuple, b.member); err != nil {
		return doors.Answer{}, err
	}
	if !b.several {
		return d.single(ctx, &c, &b.Tuple)
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
	return d.batch(ctx, &c, &b)
}

// batch answers all questions of a batch, or as many as its semantic wants.
func (d Evaluations) batch(ctx context.Context, c *doors.Call, b *batch) (doors.Answer, error) {
	t := newTranslator(d.Judge.Pinned(), c)
	for i := range b.items {
		b.items[i].inherit(&b.Tuple)
	}
	if err := t.findHomes(ctx, b.items); err != nil {
		return doors.Answer{}, err
	}
	questions, bad := make([]resources.Question, 0, len(b.items)), make([]error, len(b.items))
	for i := range b.items {
		q, err := t.question(ctx, &b.items[i])
		if err == nil {
			questions = append(questions, q)
			continue
		}
		if bad[i] = err; !resources.IsKind(err, resources.KindBadRequest) {
			return doors.Answer{}, err
		}
		if b.ends(false) { // behind a question that is denied for certain nothing is asked
			bad = bad[:i+1]
			break
		}
	}
	keep(questions)
	a := common(questions)
	out, err := t.judge.Judge(ctx, c.Caller, c.Row, questions, func(o *verdict.Outcome) bool {
		d.observe(c, o)
		return b.ends(o.Err == nil && o.Allowed)
	})
	if err != nil {
		return a, err
	}
	given, allowed := b.render(&a, t, bad, questions, out)
	a.Status, a.Outcome.Allowed, a.Outcome.Reason = 200, allowed == given, fmt.Sprintf("%d of %d allowed", allowed, given)
	a.Outcome.PolicyRevision = t.tree.Revision()
	return a, nil
}

// ends says whether the semantic wants no more behind an answer.
func (b *batch) ends(allowed bool) bool {
	return b.semantic != executeAll && allowed == (b.semantic == firstPermits)
}

// render renders the answers in the order of the items: the outcomes, and between them the errors of what is bad.
func (b *batch) render(
	a *doors.Answer, t *translator, bad []error, questions []resources.Question, out []verdict.Outcome,
) (given, allowed int) {
	a.Body = append(make([]byte, 0, len(bad)*answerRoom), `{"evaluations":[`...)
	for i, err := range bad {
		o, account := verdict.Outcome{Err: err}, false
		if err == nil {
			if len(out) == 0 {
				break
			}
			o, account = out[0], questions[0].AccountID != ""
			out, questions = out[1:], questions[1:]
			t.hide(&b.items[i], &o)
		}
		if given > 0 {
			a.Body = append(a.Body, ',')
		}
		a.Body = appendOutcome(a.Body, account, &o)
		given++
		if o.Err == nil && o.Allowed {
			allowed++
		}
		if b.ends(o.Err == nil && o.Allowed) {
			break
		}
	}
	a.Body = append(a.Body, "]}"...)
	return given, allowed
}

// answerRoom is the size of an ordinary decision in bytes.
const answerRoom = 256

// common returns the subject, account and action of all questions of a batch, for the access line. A part that differs
// between them is empty.
func common(questions []resources.Question) (a doors.Answer) {
	for i := range questions {
		summary := doors.About(&questions[i])
		if i == 0 {
			a = summary
		}
		for _, part := range [...]struct {
			kept  *string
			value string
		}{{&a.Subject, summary.Subject}, {&a.Account, summary.Account}, {&a.Action, summary.Action}} {
			if *part.kept != part.value {
				*part.kept = ""
			}
		}
	}
	return a
}
