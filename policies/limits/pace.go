package limits

import "time"

// Pace makes work rest regularly, so that it takes at most a share of one processor. The zero value never rests.
type Pace struct {
	// Slice is the time of work before a rest.
	Slice time.Duration
	// Share is the part of one processor, more than 0 and at most 1.
	Share float64
}

// Rest sleeps if the work has lasted for a slice or longer, and reports whether it did.
func (p Pace) Rest(worked time.Duration) bool {
	if p.Slice <= 0 || worked < p.Slice {
		return false
	}
	time.Sleep(time.Duration(float64(worked) * (1/p.Share - 1)))
	return true
}
