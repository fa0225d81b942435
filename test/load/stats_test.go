package load_test

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is how sure an interval is to hold the median, where there are enough pairs.
const confidence = 0.95

// interval is a median, and the interval that holds the true one with the confidence above; with fewer than six pairs
// there is none, and it is the whole range.
type interval struct {
	median, low, high float64
	sure              bool
}

// medianOf needs no form of distribution.
func medianOf(values []float64) interval {
	if len(values) == 0 {
		return interval{}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return interval{s.Center, slices.Min(values), slices.Max(values), false}
	}
	return interval{s.Center, s.Lo, s.Hi, true}
}
