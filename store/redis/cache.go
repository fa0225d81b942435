package redis

import (
	"context"
	"errors"
	"time"

	driver "github.com/redis/go-redis/v9"
)

// valueTime is how long Redis keeps a value at most.
const valueTime = time.Hour

// Cache is the level of a cache that replicas share. It implements rolecache.Remote. A server may answer and take no
// values, as a replica or a full one, so reads and writes have a breaker each.
type Cache struct {
	client        *Client
	reads, writes *breaker[[][]byte]
}

// Cache returns a cache on the client. Both functions may be nil. answers is called with the last failure when the cache
// starts to refuse calls, and with nil when Redis answers again; takes does the same for values that Redis does not take
// although it answers.
func (c *Client) Cache(answers, takes func(cause error)) *Cache {
	return &Cache{client: c, reads: newBreaker[[][]byte](answers), writes: newBreaker[[][]byte](takes)}
}

// Get returns the values of the keys in their order, nil on a miss.
func (c *Cache) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return c.reads.do(ctx, func(ctx context.Context) ([][]byte, error) {
		pipe := c.client.driver.Pipeline() // the keys may be on several nodes of a cluster
		replies := make([]*driver.StringCmd, len(keys))
		for i, k := range keys {
			replies[i] = pipe.Get(ctx, k)
		}
		if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, driver.Nil) {
			return nil, err
		}
		out := make([][]byte, len(keys))
		for i, reply := range replies {
			value, err := reply.Bytes()
			if err != nil && !errors.Is(err, driver.Nil) {
				return nil, err
			}
			if err == nil {
				out[i] = value
			}
		}
		return out, nil
	})
}

// Set stores the values for an hour at most. A failure is a later miss.
func (c *Cache) Set(ctx context.Context, values map[string][]byte) {
	if c.reads.state() != closed {
		return
	}
	_, _ = c.writes.do(context.WithoutCancel(ctx), func(ctx context.Context) ([][]byte, error) {
		_, err := c.client.driver.Pipelined(ctx, func(pipe driver.Pipeliner) error {
			for k, v := range values {
				pipe.Set(ctx, k, v, valueTime)
			}
			return nil
		})
		return nil, err
	})
}

// Breaker returns the state of the circuit breaker: closed while Redis is asked, open while it is left
// alone, half-open while one call tries it.
func (c *Cache) Breaker() string { return c.reads.state() }
