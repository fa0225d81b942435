package verdict

import (
	"context"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Decide judges a question of an allowed call's handler, on the facts of its transaction. The caller sees only the
// denials.
func (j *Judge) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := j.Inside.Decide(ctx, q)
	if err == nil && !d.Allowed {
		err = j.note(ctx, resources.PathDecision, d, &q)
	}
	if err != nil {
		return resources.Decision{}, err
	}
	return d, nil
}

// Grantable judges for the handler of an allowed call whether the caller holds all that the question's grant gives.
func (j *Judge) Grantable(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := j.Inside.Grantable(ctx, q)
	if err == nil {
		err = j.note(ctx, resources.PathGrantable, d, &q)
	}
	if err != nil {
		return resources.Decision{}, err
	}
	return d, nil
}

// note keeps a verdict inside a call until its handler has ended.
func (j *Judge) note(ctx context.Context, path string, d resources.Decision, q *resources.Question) error {
	if j.Log == nil {
		return nil
	}
	judgement := &resources.Judgement{ID: j.IDs.ULID(), Path: path, Question: *q, Decision: d}
	if n := notesOf(ctx); n != nil {
		n.judgements = append(n.judgements, judgement)
		return nil
	}
	return j.record(ctx, judgement)
}

// recordTime bounds the record of a handler's verdicts. It does not end with the call's time: a change waits for leases
// after its commit, and is answered then.
const recordTime = 5 * time.Second

// Handle calls the handler of an allowed call. The verdicts that it reaches are recorded when it has ended, before it is
// answered: nobody waits for the log inside a transaction. An error of the log is of KindUnavailable, and then nothing is
// answered; it says so if the call was carried out. A nil judge records none.
func (j *Judge) Handle(ctx context.Context, handler func(context.Context) error) error {
	if j == nil || j.Log == nil {
		return handler(ctx)
	}
	n := &notes{}
	err := handler(context.WithValue(ctx, notesKey{}, n))
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer stop()
	failed := j.record(late, n.judgements...)
	switch {
	case failed == nil:
		return err
	case err == nil:
		return resources.Unavailable("The request was carried out, but a decision in it could not be recorded; read what is there, or try again.", failed)
	}
	return failed
}

// notes are the verdicts that a handler has reached. They are for one goroutine.
type notes struct{ judgements []*resources.Judgement }

type notesKey struct{}

// notesOf returns those of the context, nil outside of a handler.
func notesOf(ctx context.Context) *notes {
	n, _ := ctx.Value(notesKey{}).(*notes)
	return n
}

// Tried runs fn in a transaction, maybe several times, and drops the verdicts of undone tries. If the transaction fails
// for good it keeps the denials: they are the reason, and the caller sees them.
func Tried[Tx any](ctx context.Context, transact func(context.Context, func(Tx) error) error, fn func(Tx) error) error {
	n := notesOf(ctx)
	if n == nil {
		return transact(ctx, fn)
	}
	before := len(n.judgements)
	err := transact(ctx, func(tx Tx) error {
		n.judgements = n.judgements[:before]
		return fn(tx)
	})
	if err != nil {
		denials := slices.DeleteFunc(n.judgements[before:], func(judgement *resources.Judgement) bool { return judgement.Decision.Allowed })
		n.judgements = n.judgements[:before+len(denials)]
	}
	return err
}
