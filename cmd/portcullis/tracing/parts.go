package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// Authn returns the authenticator with a span for each call.
func (t *Tracer) Authn(of gateway.Authenticator) gateway.Authenticator {
	if t == nil {
		return of
	}
	return authn{t, of}
}

type authn struct {
	t  *Tracer
	of gateway.Authenticator
}

// Authenticate implements gateway.Authenticator.
func (a authn) Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error) {
	ctx, span := a.t.child(ctx, "authentication")
	p, err := a.of.Authenticate(ctx, authorization, apiKey)
	if span != nil && err == nil {
		span.SetAttributes(attribute.String("portcullis.principal.kind", p.Kind), attribute.String("portcullis.credential", p.Credential))
	}
	finish(span, err)
	return p, err
}

// Policy returns the policy with a span for each decision.
func (t *Tracer) Policy(of verdict.Policy) verdict.Policy {
	if t == nil {
		return of
	}
	return policy{t, of}
}

type policy struct {
	t  *Tracer
	of verdict.Policy
}

// Decide implements verdict.Policy.
func (p policy) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return p.judge(ctx, "policy decision", q, p.of.Decide)
}

// Access implements verdict.Policy.
func (p policy) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return p.judge(ctx, "policy access", q, p.of.Access)
}

func (p policy) judge(
	ctx context.Context, name string, q resources.Question, ask func(context.Context, resources.Question) (resources.Decision, error),
) (resources.Decision, error) {
	ctx, span := p.t.child(ctx, name)
	d, err := ask(ctx, q)
	if span != nil && err == nil {
		span.SetAttributes(attribute.String("portcullis.decision", decision(d.Allowed)), attribute.String("portcullis.reason_code", d.Code),
			attribute.String("portcullis.policy.revision", d.PolicyRevision))
	}
	finish(span, err)
	return d, err
}

// Cache are the facts of the process's cache.
type Cache interface {
	verdict.Facts
	verdict.Gatherer
}

// Facts returns the facts with a span for each call, which says from which level they came.
func (t *Tracer) Facts(of Cache) Cache {
	if t == nil {
		return of
	}
	return facts{of, t}
}

type facts struct {
	Cache
	t *Tracer
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
		found, err = f.Cache.Facts(ctx, account, user, project)
		return err
	})
	return found, err
}

// FactsOf implements verdict.Gatherer.
func (f facts) FactsOf(ctx context.Context, account string, of []resources.About) (found []resources.Facts, err error) {
	err = f.gather(ctx, func(ctx context.Context) (err error) {
		found, err = f.Cache.FactsOf(ctx, account, of)
		return err
	})
	return found, err
}

// Remote returns the cache that replicas share with a span for each call.
func (t *Tracer) Remote(of rolecache.Remote) rolecache.Remote {
	if t == nil {
		return of
	}
	return remote{t, of}
}

type remote struct {
	t  *Tracer
	of rolecache.Remote
}

// Get implements rolecache.Remote.
func (r remote) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	went(ctx, inRedis)
	ctx, span := r.t.child(ctx, "redis GET", attribute.String("db.system.name", "redis"), attribute.Int("db.operation.batch.size", len(keys)))
	values, err := r.of.Get(ctx, keys...)
	finish(span, err)
	return values, err
}

// Set implements rolecache.Remote.
func (r remote) Set(ctx context.Context, values map[string][]byte) {
	ctx, span := r.t.child(ctx, "redis SET", attribute.String("db.system.name", "redis"), attribute.Int("db.operation.batch.size", len(values)))
	r.of.Set(ctx, values)
	finish(span, nil)
}

// Store returns the store with a span for each snapshot, each transaction and each read of its epoch.
func (t *Tracer) Store(of store.Store, system string) store.Store {
	if t == nil {
		return of
	}
	return stored{of, t, attribute.String("db.system.name", system)}
}

type stored struct {
	store.Store
	t      *Tracer
	system attribute.KeyValue
}

// View implements store.Store.
func (s stored) View(ctx context.Context, fn func(store.Tx) error) error {
	went(ctx, inStore)
	ctx, span := s.t.child(ctx, "store view", s.system)
	err := s.Store.View(ctx, fn)
	finish(span, err)
	return err
}

// Transact implements store.Store.
func (s stored) Transact(ctx context.Context, fn func(store.Tx) error) error {
	ctx, span := s.t.child(ctx, "store transaction", s.system)
	err := s.Store.Transact(ctx, fn)
	finish(span, err)
	return err
}

// Freshness implements store.Store.
func (s stored) Freshness(ctx context.Context) (store.Freshness, error) {
	if s.system.Value.AsString() == "sqlite" { // costs no query
		return s.Store.Freshness(ctx)
	}
	ctx, span := s.t.child(ctx, "store freshness", s.system)
	f, err := s.Store.Freshness(ctx)
	finish(span, err)
	return f, err
}
