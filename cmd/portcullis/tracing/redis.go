package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// Remote returns the cache that replicas share with a span for each call.
//
// redisotel can't take its place: its spans have each error's text, under names of semantic conventions 1.24.
func (t *Tracer) Remote(of rolecache.Remote) rolecache.Remote {
	return wrapped[rolecache.Remote](t, of, remote{t, of})
}

type remote struct {
	t  *Tracer
	of rolecache.Remote
}

// redis begins the span of one round trip, with so many commands.
func (t *Tracer) redis(ctx context.Context, command string, commands int) (context.Context, api.Span) {
	if !sampled(ctx) {
		return ctx, nil
	}
	about := []attribute.KeyValue{attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", command)}
	if commands > 1 { // one is no batch, says OpenTelemetry
		about = append(about, attribute.Int("db.operation.batch.size", commands))
	}
	return t.call(ctx, "redis "+command, about...)
}

// Get implements rolecache.Remote.
func (r remote) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	went(ctx, inRedis)
	ctx, span := r.t.redis(ctx, "GET", len(keys))
	values, err := r.of.Get(ctx, keys...)
	finish(span, err)
	return values, err
}

// Set implements rolecache.Remote.
func (r remote) Set(ctx context.Context, values map[string][]byte) {
	ctx, span := r.t.redis(ctx, "SET", len(values))
	r.of.Set(ctx, values)
	finish(span, nil)
}

// Rates returns the token buckets that replicas share with a span for each call.
func (t *Tracer) Rates(of ratelimit.Shared) ratelimit.Shared {
	return wrapped[ratelimit.Shared](t, of, rates{t, of})
}

type rates struct {
	t  *Tracer
	of ratelimit.Shared
}

// Take implements ratelimit.Shared.
func (r rates) Take(ctx context.Context, name string, interval time.Duration, burst, n, least int) (int, time.Duration, error) {
	ctx, span := r.t.redis(ctx, "EVALSHA", 1)
	given, full, err := r.of.Take(ctx, name, interval, burst, n, least)
	finish(span, err)
	return given, full, err
}
