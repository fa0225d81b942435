package sharedbucket

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

	"github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/store/breaker"
)

const (
	// prefix is below that of the other things of ours in that Redis.
	prefix = "az1:rate:"
	// keyBytes of a hash are enough for no two names to meet.
	keyBytes = 18
)

//go:embed take.lua
var take string

var errAnswer = errors.New("sharedbucket: the script's answer is not two whole numbers")

// Redis holds the buckets in a Redis server, a cluster, or behind sentinels.
type Redis struct {
	client redis.UniversalClient
	// secret names the buckets: those of two installations are not the same, and who reads
	// the keys learns no names.
	secret  []byte
	script  *redis.Script
	breaker *breaker.Breaker[[]int64]
}

// New uses a client that does nothing twice and keeps to its contexts' deadlines; the secret
// is one that all replicas of an installation have and nobody else. changed is told when
// Redis is left alone, with why, and with nil when it answers again.
func New(client redis.UniversalClient, secret []byte, changed func(cause error)) *Redis {
	return &Redis{client: client, secret: secret, script: redis.NewScript(take), breaker: breaker.New[[]int64](changed)}
}

// Take takes up to n tokens out of the bucket of that name, which gets one in each interval
// and holds burst: how many it gave, and in how long the bucket is full. An error comes
// within 50 ms.
func (r *Redis) Take(ctx context.Context, name string, interval time.Duration, burst, n int) (given int, full time.Duration, err error) {
	answer, err := r.breaker.Do(ctx, func(ctx context.Context) ([]int64, error) {
		microseconds := strconv.FormatFloat(float64(interval)/float64(time.Microsecond), 'f', 3, 64)
		answer, err := r.script.Run(ctx, r.client, []string{r.key(name)}, microseconds, burst, n).Int64Slice()
		if err == nil && len(answer) != 2 {
			err = errAnswer
		}
		return answer, err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("sharedbucket: %w", err)
	}
	return int(answer[0]), time.Duration(answer[1]) * time.Microsecond, nil
}

func (r *Redis) key(name string) string {
	h := hmac.New(sha256.New, r.secret)
	h.Write([]byte(name))
	return prefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:keyBytes])
}
