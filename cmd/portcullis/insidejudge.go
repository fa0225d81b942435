package main

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// insideJudge is the engine for handlers. It records the verdicts that the caller of an allowed call is told, beside
// the verdict on the call.
type insideJudge struct {
	engine.Inside
	ids resources.IDs
	// log is nil where nothing is recorded.
	log resources.DecisionLog
}

// Decide is Inside.Decide. The caller is told a denial alone.
func (j *insideJudge) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := j.Inside.Decide(ctx, q)
	if err == nil && !d.Allowed {
		err = j.record(ctx, &resources.Judgement{Path: resources.PathDecision, Question: q, Decision: d})
	}
	if err != nil {
		return resources.Decision{}, err
	}
	return d, nil
}

// Grantable is Inside.Grantable.
func (j *insideJudge) Grantable(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := j.Inside.Grantable(ctx, q)
	if err == nil {
		err = j.record(ctx, &resources.Judgement{Path: resources.PathGrantable, Question: q, Decision: d})
	}
	if err != nil {
		return resources.Decision{}, err
	}
	return d, nil
}

func (j *insideJudge) record(ctx context.Context, told *resources.Judgement) error {
	if j.log == nil {
		return nil
	}
	told.ID, told.ParentID = j.ids.ULID(), resources.DecisionOf(ctx)
	if v := verdictsOf(ctx); v != nil {
		v.told = append(v.told, told)
		return nil
	}
	return j.log.Record(ctx, told)
}

// recording returns the handlers. The verdicts that a handler reaches are recorded when it has ended, before it is answered:
// nobody waits for the log inside a transaction.
func (j *insideJudge) recording(routes wire.Routes) wire.Routes {
	out := make(wire.Routes, len(routes))
	for name, handler := range routes {
		out[name] = func(ctx context.Context, r *wire.Request) (wire.Response, error) {
			v := &verdicts{}
			response, err := handler(context.WithValue(ctx, verdictsKey{}, v), r)
			if len(v.told) > 0 {
				if failed := j.log.Record(ctx, v.told...); failed != nil {
					return wire.Response{}, failed
				}
			}
			return response, err
		}
	}
	return out
}

// verdicts are those that a handler has reached.
type verdicts struct{ told []*resources.Judgement }

type verdictsKey struct{}

// verdictsOf returns those of the context, nil outside of a handler.
func verdictsOf(ctx context.Context) *verdicts {
	v, _ := ctx.Value(verdictsKey{}).(*verdicts)
	return v
}

// judged is a store whose transactions forget the verdicts of tries that are undone. Of a transaction that is undone for
// good the denials are kept, which are why: the caller is told them.
type judged struct{ store.Store }

// View implements store.Store.
func (s judged) View(ctx context.Context, fn func(store.Tx) error) error {
	return verdictsOf(ctx).during(ctx, s.Store.View, fn)
}

// Transact implements store.Store.
func (s judged) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return verdictsOf(ctx).during(ctx, s.Store.Transact, fn)
}

// during runs fn in a transaction.
func (v *verdicts) during(ctx context.Context, run func(context.Context, func(store.Tx) error) error, fn func(store.Tx) error) error {
	if v == nil {
		return run(ctx, fn)
	}
	before := len(v.told)
	err := run(ctx, func(tx store.Tx) error {
		v.told = v.told[:before]
		return fn(tx)
	})
	if err != nil {
		denials := slices.DeleteFunc(v.told[before:], func(j *resources.Judgement) bool { return j.Decision.Allowed })
		v.told = v.told[:before+len(denials)]
	}
	return err
}
