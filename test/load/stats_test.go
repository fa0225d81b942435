package load_test

import "slices"

// confidence is how sure an interval is to hold the median, where there are enough pairs.
const confidence = 0.95

// interval is a median, and the order statistics around it that hold the true one with the
// confidence above; with fewer than six pairs there are none, and it is the whole range.
type interval struct {
	median, low, high float64
	sure              bool
}

// medianOf needs no form of distribution: how many of n values lie below the true median is
// like the tosses of a coin.
func medianOf(values []float64) interval {
	if len(values) == 0 {
		return interval{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	cut, sure := outside(n)
	return interval{(v[(n-1)/2] + v[n/2]) / 2, v[cut], v[n-1-cut], sure}
}

// outside is how many of n values may be left out at each end.
func outside(n int) (cut int, sure bool) {
	chance, below := 1.0, 0.0 // of exactly k of n tosses; of at most k
	for range n {
		chance /= 2
	}
	for k := 0; k <= n; k++ {
		if below += chance; 2*below > 1-confidence {
			return max(k-1, 0), k > 0
		}
		chance = chance * float64(n-k) / float64(k+1)
	}
	return 0, false
}
