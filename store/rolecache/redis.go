package rolecache

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

const (
	// redisTime bounds each thing that is done with Redis.
	redisTime = 50 * time.Millisecond
	// redisLife is how long a value is kept there at most.
	redisLife = time.Hour
	// breakAfter failures in a row nobody asks for breakTime.
	breakAfter = 5
	breakTime  = time.Second
)

// Redis is the remote level in a Redis server, a cluster, or behind sentinels.
type Redis struct {
	client  redis.UniversalClient
	breaker *gobreaker.CircuitBreaker[[][]byte]
}

// NewRedis makes a client; it connects when it is asked something. changed, where it is not
// nil, is told when Redis is left alone, with what failed last, and with nil when it answers
// again.
func NewRedis(address string, changed func(cause error)) (*Redis, error) {
	client, err := NewClient(address)
	if err != nil {
		return nil, err
	}
	var last atomic.Pointer[error]
	return &Redis{client: client, breaker: gobreaker.NewCircuitBreaker[[][]byte](gobreaker.Settings{
		Name: "redis", Timeout: breakTime, MaxRequests: 1,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
		IsSuccessful: func(err error) bool {
			if err == nil || errors.Is(err, context.Canceled) {
				return true
			}
			last.Store(&err)
			return false
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case changed == nil:
			case from == gobreaker.StateClosed:
				changed(*last.Load())
			case to == gobreaker.StateClosed:
				changed(nil)
			}
		},
	})}, nil
}

// Get implements Remote.
func (r *Redis) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return r.breaker.Execute(func() ([][]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, redisTime)
		defer cancel()
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
	_, _ = r.breaker.Execute(func() ([][]byte, error) { // what is not kept is read from the store again
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisTime)
		defer cancel()
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
