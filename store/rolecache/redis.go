package rolecache

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/store/breaker"
)

// redisLife is how long a value is kept there at most.
const redisLife = time.Hour

// Redis is the remote level in a Redis server, a cluster, or behind sentinels.
type Redis struct {
	client  redis.UniversalClient
	breaker *breaker.Breaker[[][]byte]
}

// NewRedis makes a client; it connects when it is asked something. changed, where it is not
// nil, is told when Redis is left alone, with what failed last, and with nil when it answers
// again.
func NewRedis(address string, changed func(cause error)) (*Redis, error) {
	client, err := NewClient(address)
	if err != nil {
		return nil, err
	}
	return &Redis{client: client, breaker: breaker.New[[][]byte](changed)}, nil
}

// Get implements Remote.
func (r *Redis) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return r.breaker.Do(ctx, func(ctx context.Context) ([][]byte, error) {
		pipe := r.client.Pipeline() // keys of a cluster may be on several nodes
		got := make([]*redis.StringCmd, len(keys))
		for i, k := range keys {
			got[i] = pipe.Get(ctx, k)
		}
		if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		out := make([][]byte, len(keys))
		for i, g := range got {
			value, err := g.Bytes()
			if err != nil && !errors.Is(err, redis.Nil) {
				return nil, err
			}
			if err == nil {
				out[i] = value
			}
		}
		return out, nil
	})
}

// Set implements Remote.
func (r *Redis) Set(ctx context.Context, values map[string][]byte) {
	// What is not kept is read from the store again.
	_, _ = r.breaker.Do(context.WithoutCancel(ctx), func(ctx context.Context) ([][]byte, error) {
		_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for k, v := range values {
				pipe.Set(ctx, k, v, redisLife)
			}
			return nil
		})
		return nil, err
	})
}

// Close gives the connections back.
func (r *Redis) Close() error { return r.client.Close() }
