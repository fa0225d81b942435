package ratelimit

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Rate is one request in each Interval on the average, and Burst at once. The zero value
// is no limit.
type Rate struct {
	Interval time.Duration
	Burst    int
}

// Bounds of a rate: Redis counts in microseconds, and a bucket is full again in a day.
const (
	minInterval = time.Microsecond
	maxFill     = 24 * time.Hour
	maxBurst    = 1_000_000
)

// ErrRate says what a rate must be.
var ErrRate = errors.New("must be off, or requests per s, m or h, such as 100/s, and may say how many at once, such as 100/s,200: " +
	"1 to 1000000 of each, not over 1000000 a second, with all of a burst back within a day")

// ParseRate reads "100/s", "600/m,50" (of which 50 at once) or "off". Without a burst it is
// as many as in the unit.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{}, nil
	}
	rate, burst, hasBurst := strings.Cut(text, ",")
	count, unit, _ := strings.Cut(rate, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n == 0 || n > maxBurst || per == 0 {
		return Rate{}, ErrRate
	}
	r := Rate{Interval: per / time.Duration(n), Burst: int(n)}
	if hasBurst {
		n, err := strconv.ParseUint(burst, 10, 31)
		if err != nil || n == 0 || n > maxBurst {
			return Rate{}, ErrRate
		}
		r.Burst = int(n)
	}
	if r.Interval < minInterval || r.fill() > maxFill {
		return Rate{}, ErrRate
	}
	return r, nil
}

// fill is how long an empty bucket takes to be full.
func (r Rate) fill() time.Duration { return r.Interval * time.Duration(r.Burst) }

// ahead is the most that one replica takes in advance: a tenth of what may come at once,
// or in a second.
func (r Rate) ahead() int { return max(1, min(r.Burst, int(time.Second/r.Interval))/10) }

// left is how many tokens are in a bucket that is full in so much time.
func (r Rate) left(full time.Duration) int {
	if full <= 0 {
		return r.Burst
	}
	return max(0, int((r.fill()-full)/r.Interval))
}

// wait is how long until there is a token in it; zero or less is none.
func (r Rate) wait(full time.Duration) time.Duration { return full + r.Interval - r.fill() }
