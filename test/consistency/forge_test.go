package consistency_test

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// forge is somebody who can write in Redis: values of one revision are put under the keys of
// the revisions to come, as a cross-wired connection or an attacker could.
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
					_ = c.Set(ctx, k, value, time.Hour) // at best
				}
			}
		}
	}
}

// laterKey is the key of the same value at a later revision: az1:format:kind:len:generation:len:account:revision:len:id.
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
