package ratelimit

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Rate is one request in each Interval on average, and at most Burst at once. The zero value sets
// no limit.
type Rate struct {
	Interval time.Duration
	Burst    int
}

const (
	// minInterval is the shortest interval, since Redis counts in microseconds.
	minInterval = time.Microsecond
	// maxFill bounds how long an empty bucket takes to be full.
	maxFill  = 24 * time.Hour
	maxBurst = 1_000_000
)

// ErrRate is the error of a malformed rate. It states the form.
var ErrRate = errors.New("must be off, or requests per s, m or h, such as 100/s, and may say how many at once, such as 100/s,200: " +
	"1 to 1000000 of each, not over 1000000 a second, with all of a burst back within a day")

// ParseRate reads "100/s", "600/m,50" (50 at once) or "off". The burst is by default the number of
// requests.
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

// fill returns how long an empty bucket takes to be full.
func (r Rate) fill() time.Duration { return r.Interval * time.Duration(r.Burst) }

// maxLease returns the most tokens of one lease: a tenth of a burst, or of a second's rate if less.
func (r Rate) maxLease() int { return max(1, min(r.Burst, int(time.Second/r.Interval))/10) }

// available returns how many tokens a bucket has, from the time until it is full.
func (r Rate) available(full time.Duration) int {
	if full <= 0 {
		return r.Burst
	}
	return max(0, int((r.fill()-full)/r.Interval))
}

// wait returns the time until a bucket has n tokens, from the time until it is full; it has them at
// zero or less.
func (r Rate) wait(full time.Duration, n int) time.Duration {
	return full + time.Duration(n)*r.Interval - r.fill()
}
