package redis

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	driver "github.com/redis/go-redis/v9"
)

const (
	// bucketPrefix begins the key of every bucket.
	bucketPrefix = "az1:rate:"
	// bucketKeyBytes of a hash name a bucket: no two of an installation meet.
	bucketKeyBytes = 18
)

//go:embed take.lua
var take string

var errReply = errors.New("the reply of the script is not two whole numbers")

// Buckets are the replicas' shared token buckets (gateway/ratelimit.Shared).
//
// A bucket is one key with the time of the full bucket, by the clock of Redis; it expires at that time. Its name is a
// keyed hash: installations on one Redis do not share buckets, and its readers learn no names. Take is one script, so
// no two replicas get the same token. Foreign values in it can refuse requests, or allow each replica the whole rate;
// they change nothing else.
type Buckets struct {
	client  *Client
	secret  []byte
	script  *driver.Script
	breaker *breaker[[]int64]
}

// Buckets returns the buckets on the client. The secret is shared by the replicas of an installation and by nobody
// else. changed may be nil. It is called with the last failure when the buckets start to refuse calls, and with nil
// when Redis answers again.
func (c *Client) Buckets(secret []byte, changed func(cause error)) *Buckets {
	return &Buckets{client: c, secret: secret, script: driver.NewScript(take), breaker: newBreaker[[]int64](changed)}
}

// Take takes up to n tokens from the named bucket, and none if there are fewer than least. The bucket gets one token in
// each interval and holds burst. It returns how many it took, and after how long the bucket is full.
func (b *Buckets) Take(ctx context.Context, name string, interval time.Duration, burst, n, least int) (given int, full time.Duration, err error) {
	reply, err := b.breaker.do(ctx, func(ctx context.Context) ([]int64, error) {
		microseconds := strconv.FormatFloat(float64(interval)/float64(time.Microsecond), 'f', 3, 64)
		reply, err := b.script.Run(ctx, b.client.driver, []string{b.key(name)}, microseconds, burst, n, least).Int64Slice()
		if err == nil && len(reply) != 2 {
			err = errReply
		}
		return reply, err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("redis: take tokens: %w", err)
	}
	return int(reply[0]), time.Duration(reply[1]) * time.Microsecond, nil
}

func (b *Buckets) key(name string) string {
	h := hmac.New(sha256.New, b.secret)
	h.Write([]byte(name))
	return bucketPrefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:bucketKeyBytes])
}
