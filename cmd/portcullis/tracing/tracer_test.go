package tracing_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// policy allows every request.
type policy struct{ verdict.Tree }

func (policy) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true}, nil
}

func (p policy) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return p.Decide(ctx, q)
}

// TestNothingIsWrappedWithoutATracer guarantees that tracing costs nothing while it is off.
func TestNothingIsWrappedWithoutATracer(t *testing.T) {
	var off *tracing.Tracer
	if part, ok := off.Tree(policy{}).(policy); !ok {
		t.Errorf("the tree is %T", part)
	}
	if off.Authn(nil) != nil || off.Facts(nil) != nil || off.Remote(nil) != nil || off.Rates(nil) != nil || off.Store(nil, "sqlite") != nil || off.Commands() != nil {
		t.Error("a part is wrapped")
	}
}

// variables returns a lookup of an endpoint variable and of these pairs.
func variables(pairs ...string) func(string) string {
	all := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return all[name] }
}

// sampling returns a tracer that samples a share of requests. No collector listens at its endpoint.
func sampling(t testing.TB, share string) *tracing.Tracer {
	t.Helper()
	tracer, err := tracing.Start(t.Context(), variables("OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", share), false, "test", func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tracer.Close() }) // no collector listens
	return tracer
}

// request traces a request without a cache miss.
func request(tracer *tracing.Tracer, parts []func(context.Context)) {
	ctx, _, end := tracer.Begin(context.Background(), "GET", "")
	for _, part := range parts {
		part(ctx)
	}
	end(&gateway.Record{Method: "GET", Status: 200, Route: "authorization.check"})
}

func partsOf(tracer *tracing.Tracer) []func(context.Context) {
	judged := tracer.Tree(policy{})
	return []func(context.Context){
		func(ctx context.Context) { _, _ = judged.Access(ctx, resources.Question{}) },
		func(ctx context.Context) { _, _ = judged.Decide(ctx, resources.Question{}) },
	}
}

// unsampledAllocations bounds the allocations of tracing for a request that is not sampled: its span and its context.
const unsampledAllocations = 4

// TestUnsampledRequestsMakeNoSpans guarantees that a request without sampling allocates no spans but its own, and no
// attributes.
func TestUnsampledRequestsMakeNoSpans(t *testing.T) {
	tracer := sampling(t, "0")
	parts := partsOf(tracer)
	if got := testing.AllocsPerRun(1000, func() { request(tracer, parts) }); got > unsampledAllocations {
		t.Errorf("%v allocations, want %d at most", got, unsampledAllocations)
	}
	views := 0
	traced := tracer.Store(viewed{tell: func(context.Context) { views++ }}, "mongodb")
	fn := func(store.Tx) error { return nil }
	if got := testing.AllocsPerRun(100, func() { _ = traced.View(context.Background(), fn) }); got > 0 || views == 0 {
		t.Errorf("%v allocations of a snapshot", got)
	}
}

// viewed calls tell with the context of each view.
type viewed struct {
	store.Store
	tell func(context.Context)
}

func (v viewed) View(ctx context.Context, fn func(store.Tx) error) error {
	v.tell(ctx)
	return fn(nil)
}

// BenchmarkRequest measures the cost of tracing for a request without a cache miss.
func BenchmarkRequest(b *testing.B) {
	for _, share := range []string{"0", "0.01", "1"} {
		b.Run(share, func(b *testing.B) {
			tracer := sampling(b, share)
			parts := partsOf(tracer)
			b.ReportAllocs()
			for b.Loop() {
				request(tracer, parts)
			}
		})
	}
}
