package consistency_test

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// forge writes to Redis as an attacker could: it stores each value under the keys of the next three revisions.
func forge(w *world, stop <-chan struct{}) {
	ctx, c := context.Background(), w.redis.Client(w.t)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); sleep(50*time.Millisecond, stop) {
		keys := c.Scan(ctx, 0, "*", 1000).Iterator()
		for keys.Next(ctx) {
			value, err := c.Get(ctx, keys.Val()).Bytes()
			if err != nil {
				continue
			}
			for ahead := 1; ahead <= 3; ahead++ {
				if k := laterKey(keys.Val(), ahead); k != "" {
					_ = c.Set(ctx, k, value, time.Hour) // it may fail
				}
			}
		}
	}
}

// laterKey returns the key of the same value at a later revision. Keys are
// az1:format:kind:len:generation:len:account:revision:len:id.
func laterKey(key string, ahead int) string {
	parts := strings.Split(key, ":")
	if len(parts) != 10 {
		return ""
	}
	revision, err := strconv.Atoi(parts[7])
	if err != nil {
		return ""
	}
	parts[7] = strconv.Itoa(revision + ahead)
	return strings.Join(parts, ":")
}
