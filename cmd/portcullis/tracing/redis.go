package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// Remote returns the cache's second level with a span for each call.
//
// redisotel can't replace it: its spans have the texts of errors, and names of the semantic conventions 1.24.
func (t *Tracer) Remote(part rolecache.Remote) rolecache.Remote {
	return wrapped[rolecache.Remote](t, part, remote{t, part})
}

type remote struct {
	t    *Tracer
	part rolecache.Remote
}

// redis begins the span of one round trip of some commands.
func (t *Tracer) redis(ctx context.Context, command string, commands int) (context.Context, api.Span) {
	if !sampled(ctx) {
		return ctx, nil
	}
	attributes := []attribute.KeyValue{attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", command)}
	if commands > 1 { // OpenTelemetry defines a batch as two or more
		attributes = append(attributes, attribute.Int("db.operation.batch.size", commands))
	}
	return t.call(ctx, "redis "+command, attributes...)
}

// Get implements rolecache.Remote.
func (r remote) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	reach(ctx, inRedis)
	ctx, span := r.t.redis(ctx, "GET", len(keys))
	values, err := r.part.Get(ctx, keys...)
	finish(span, err)
	return values, err
}

// Set implements rolecache.Remote.
func (r remote) Set(ctx context.Context, values map[string][]byte) {
	ctx, span := r.t.redis(ctx, "SET", len(values))
	r.part.Set(ctx, values)
	finish(span, nil)
}

// Rates returns the shared token buckets with a span for each call.
func (t *Tracer) Rates(part ratelimit.Shared) ratelimit.Shared {
	return wrapped[ratelimit.Shared](t, part, rates{t, part})
}

type rates struct {
	t    *Tracer
	part ratelimit.Shared
}

// Take implements ratelimit.Shared.
func (r rates) Take(ctx context.Context, name string, interval time.Duration, burst, n, least int) (int, time.Duration, error) {
	ctx, span := r.t.redis(ctx, "EVALSHA", 1)
	given, full, err := r.part.Take(ctx, name, interval, burst, n, least)
	finish(span, err)
	return given, full, err
}
