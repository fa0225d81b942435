package limits

import "time"

// Pace has work rest again and again, so that it has no more than its share of a processor. The zero value never rests.
type Pace struct {
	// Slice is for how long it works before it rests.
	Slice time.Duration
	// Share is its part of one processor, more than 0 and at most 1.
	Share float64
}

// Rest rests after a slice or more of work, and says whether it did.
func (p Pace) Rest(worked time.Duration) bool {
	if p.Slice <= 0 || worked < p.Slice {
		return false
	}
	time.Sleep(time.Duration(float64(worked) * (1/p.Share - 1)))
	return true
}
