package load_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const (
	// finest is the ratio between two columns of a histogram: half a percent.
	finest = 1.005
	// columns is the number of columns: they reach from a microsecond to 20 s.
	columns = 3400
	// drawings is the number of resamplings for an interval.
	drawings = 1000
)

// histogram counts latencies.
type histogram [columns]uint32

func (h *histogram) add(d time.Duration) {
	column := math.Log(max(1, float64(d)/float64(time.Microsecond))) / math.Log(finest)
	h[min(int(column), columns-1)]++
}

// tail returns the 99th percentile.
func (h *histogram) tail() time.Duration {
	all := uint64(0)
	for _, n := range h {
		all += uint64(n)
	}
	above := all / 100
	for i := columns - 1; i >= 0; i-- {
		if uint64(h[i]) > above {
			return time.Duration(math.Pow(finest, float64(i)+0.5) * float64(time.Microsecond)).Round(100 * time.Nanosecond)
		}
		above -= uint64(h[i])
	}
	return 0
}

// pooled returns the sum of the histograms of these turns, with repetitions; nil is all turns.
func pooled(windows []histogram, turns []int) *histogram {
	sum := &histogram{}
	add := func(h *histogram) {
		for i, n := range h {
			sum[i] += n
		}
	}
	for i := range windows {
		if turns == nil {
			add(&windows[i])
		}
	}
	for _, i := range turns {
		add(&windows[i])
	}
	return sum
}

// ratioOfTails returns the ratio of the 99th percentiles of all windows together. Its interval is a 95 % bootstrap
// interval. It draws turns with both of their windows, since a disturbance usually affects both.
func ratioOfTails(windows, bases []histogram) interval {
	if len(windows) == 0 {
		return interval{}
	}
	ratio := func(turns []int) float64 {
		return float64(pooled(windows, turns).tail()) / float64(pooled(bases, turns).tail())
	}
	chance, turns, drawn := rand.New(rand.NewPCG(1, 2)), make([]int, len(windows)), make([]float64, drawings)
	for i := range drawn {
		for j := range turns {
			turns[j] = chance.IntN(len(windows))
		}
		drawn[i] = ratio(turns)
	}
	slices.Sort(drawn)
	cut := int((1 - confidence) / 2 * drawings)
	return interval{ratio(nil), drawn[cut], drawn[drawings-1-cut], true}
}

// TestATailIsThatOfAllWindows guarantees the 99th percentile of all latencies, and the interval of a ratio.
func TestATailIsThatOfAllWindows(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	arm := func(times float64) (windows []histogram, all []float64) {
		windows = make([]histogram, 40)
		for i := range windows {
			for range 2000 {
				took := times * 50e3 * math.Exp(chance.NormFloat64()/2)
				windows[i].add(time.Duration(took))
				all = append(all, took)
			}
		}
		return windows, all
	}
	slower, _ := arm(1.2)
	base, all := arm(1)
	slices.Sort(all)
	if got, want := float64(pooled(base, nil).tail()), all[len(all)*99/100]; math.Abs(got/want-1) > 0.01 {
		t.Errorf("the 99th percentile is %.0f, want %.0f", got, want)
	}
	if m := ratioOfTails(slower, base); m.low > 1.2 || m.high < 1.2 || m.high-m.low > 0.1 || m.low > m.median || m.median > m.high {
		t.Errorf("%+v, want 1.2", m)
	}
	if m := ratioOfTails(base, base); m.low != 1 || m.high != 1 {
		t.Errorf("%+v of the same", m)
	}
}
