package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// wrapped returns traced, or part without a tracer.
func wrapped[T any](t *Tracer, part, traced T) T {
	if t == nil {
		return part
	}
	return traced
}

// Authn returns the authenticator with a span for each call.
func (t *Tracer) Authn(part gateway.Authenticator) gateway.Authenticator {
	return wrapped[gateway.Authenticator](t, part, authn{t, part})
}

type authn struct {
	t    *Tracer
	part gateway.Authenticator
}

// Authenticate implements gateway.Authenticator.
func (a authn) Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error) {
	return a.traced(ctx, func(ctx context.Context) (resources.Principal, error) {
		return a.part.Authenticate(ctx, authorization, apiKey)
	})
}

// AuthenticateFor implements gateway.Authenticator.
func (a authn) AuthenticateFor(ctx context.Context, audience, agentsOf string, authorization []string) (resources.Principal, error) {
	return a.traced(ctx, func(ctx context.Context) (resources.Principal, error) {
		return a.part.AuthenticateFor(ctx, audience, agentsOf, authorization)
	})
}

func (a authn) traced(ctx context.Context, authenticate func(context.Context) (resources.Principal, error)) (resources.Principal, error) {
	ctx, span := a.t.child(ctx, "authentication")
	p, err := authenticate(ctx)
	if span != nil && err == nil {
		span.SetAttributes(attribute.String("portcullis.principal.kind", p.Kind), attribute.String("portcullis.credential", p.Credential))
	}
	finish(span, err)
	return p, err
}

// Tree returns the policy tree with a span for each decision.
func (t *Tracer) Tree(part verdict.Tree) verdict.Tree {
	return wrapped[verdict.Tree](t, part, tree{part, t})
}

type tree struct {
	verdict.Tree
	t *Tracer
}

// Decide implements verdict.Tree.
func (p tree) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	ctx, span := p.t.child(ctx, "policy decision")
	d, err := p.Tree.Decide(ctx, q)
	judged(span, &d, err)
	return d, err
}

// Access implements verdict.Tree.
func (p tree) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	ctx, span := p.t.child(ctx, "policy access")
	d, err := p.Tree.Access(ctx, q)
	judged(span, &d, err)
	return d, err
}

// judged ends the span of a decision.
func judged(span api.Span, d *resources.Decision, err error) {
	if span != nil && err == nil {
		span.SetAttributes(attribute.String("portcullis.decision", resources.DecisionWord(d.Allowed)), attribute.String("portcullis.reason_code", d.Code),
			attribute.String("portcullis.policy.revision", d.PolicyRevision))
	}
	finish(span, err)
}

// Facts returns the facts with a span for each call. The span has the farthest level of the cache that the call read.
func (t *Tracer) Facts(part verdict.FactSource) verdict.FactSource {
	return wrapped[verdict.FactSource](t, part, facts{part, t})
}

type facts struct {
	part verdict.FactSource
	t    *Tracer
}

// level is the farthest level that a call read for its facts.
type level struct{ farthest atomic.Int32 }

const (
	inProcess int32 = iota
	inRedis
	inStore
)

type levelKey struct{}

// reach records in the call's context that it read this level.
func reach(ctx context.Context, far int32) {
	l, _ := ctx.Value(levelKey{}).(*level)
	if l == nil {
		return
	}
	for now := l.farthest.Load(); now < far && !l.farthest.CompareAndSwap(now, far); now = l.farthest.Load() {
	}
}

func (f facts) gather(ctx context.Context, do func(context.Context) error) error {
	ctx, span := f.t.child(ctx, "facts")
	if span == nil {
		return do(ctx)
	}
	reached := &level{}
	err := do(context.WithValue(ctx, levelKey{}, reached))
	span.SetAttributes(attribute.String("portcullis.cache.level", []string{"process", "redis", "store"}[reached.farthest.Load()]))
	finish(span, err)
	return err
}

// Facts implements verdict.FactSource.
func (f facts) Facts(ctx context.Context, account, user, project string) (all resources.Facts, err error) {
	err = f.gather(ctx, func(ctx context.Context) (err error) {
		all, err = f.part.Facts(ctx, account, user, project)
		return err
	})
	return all, err
}

// FactsOf implements verdict.FactSource.
func (f facts) FactsOf(ctx context.Context, account string, pairs []resources.About, all []resources.Facts) error {
	return f.gather(ctx, func(ctx context.Context) error { return f.part.FactsOf(ctx, account, pairs, all) })
}

// Homes implements verdict.FactSource.
func (f facts) Homes(ctx context.Context, users []string) (accounts []string, err error) {
	err = f.gather(ctx, func(ctx context.Context) (err error) {
		accounts, err = f.part.Homes(ctx, users)
		return err
	})
	return accounts, err
}
