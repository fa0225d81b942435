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

// wrapped returns a part with spans around it, and the part itself without a tracer.
func wrapped[T any](t *Tracer, part, traced T) T {
	if t == nil {
		return part
	}
	return traced
}

// Authn returns the authenticator with a span for each call.
func (t *Tracer) Authn(of gateway.Authenticator) gateway.Authenticator {
	return wrapped[gateway.Authenticator](t, of, authn{t, of})
}

type authn struct {
	t  *Tracer
	of gateway.Authenticator
}

// Authenticate implements gateway.Authenticator.
func (a authn) Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error) {
	return a.traced(ctx, func(ctx context.Context) (resources.Principal, error) {
		return a.of.Authenticate(ctx, authorization, apiKey)
	})
}

// AuthenticateFor implements gateway.Authenticator.
func (a authn) AuthenticateFor(ctx context.Context, audience string, authorization []string) (resources.Principal, error) {
	return a.traced(ctx, func(ctx context.Context) (resources.Principal, error) {
		return a.of.AuthenticateFor(ctx, audience, authorization)
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
func (t *Tracer) Tree(of verdict.Tree) verdict.Tree {
	return wrapped[verdict.Tree](t, of, tree{of, t})
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
		span.SetAttributes(attribute.String("portcullis.decision", decision(d.Allowed)), attribute.String("portcullis.reason_code", d.Code),
			attribute.String("portcullis.policy.revision", d.PolicyRevision))
	}
	finish(span, err)
}

// Facts returns the facts with a span for each call, which says from which level they came.
func (t *Tracer) Facts(of verdict.Facts) verdict.Facts {
	return wrapped[verdict.Facts](t, of, facts{of, t})
}

type facts struct {
	of verdict.Facts
	t  *Tracer
}

// level is how far a call had to go for its facts.
type level struct{ farthest atomic.Int32 }

const (
	inProcess int32 = iota
	inRedis
	inStore
)

type levelKey struct{}

// went notes that the call whose context this is had to go that far.
func went(ctx context.Context, far int32) {
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

// Facts implements verdict.Facts.
func (f facts) Facts(ctx context.Context, account, user, project string) (found resources.Facts, err error) {
	err = f.gather(ctx, func(ctx context.Context) (err error) {
		found, err = f.of.Facts(ctx, account, user, project)
		return err
	})
	return found, err
}

// FactsOf implements verdict.Facts.
func (f facts) FactsOf(ctx context.Context, account string, of []resources.About, into []resources.Facts) error {
	return f.gather(ctx, func(ctx context.Context) error { return f.of.FactsOf(ctx, account, of, into) })
}

// Homes implements verdict.Facts.
func (f facts) Homes(ctx context.Context, users []string) (accounts []string, err error) {
	err = f.gather(ctx, func(ctx context.Context) (err error) {
		accounts, err = f.of.Homes(ctx, users)
		return err
	})
	return accounts, err
}
