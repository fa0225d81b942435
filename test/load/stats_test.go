package load_test

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is the confidence level of the intervals.
const confidence = 0.95

// interval is a median with its confidence interval. sure is false below six values: low and high are the range then.
type interval struct {
	median, low, high float64
	sure              bool
}

// medianOf returns the median and its interval for any distribution.
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
