package consistency_test

import (
	"testing"
	"time"
)

// Shorthands for histories: w is a change and r a question, with the times of sending and answer.
func w(value bool, call, ret time.Duration) op {
	return op{register: "x", write: true, value: value, call: call, ret: ret}
}

func r(value bool, call, ret time.Duration) op {
	return op{register: "x", value: value, call: call, ret: ret}
}

func unknown(o op) op { o.unknown = true; return o }

func strict(o op) op { o.strict = true; return o }

func atRevision(revision string, o op) op { o.question, o.revision = "q", revision; return o }

// TestModelJudges guarantees that the model accepts correct histories and rejects the others.
func TestModelJudges(t *testing.T) {
	for name, c := range map[string]struct {
		ops  []op
		good bool
	}{
		"nothing granted":                        {[]op{r(false, 1, 2)}, true},
		"an allow out of nothing":                {[]op{r(true, 1, 2)}, false},
		"granted":                                {[]op{w(true, 1, 2), r(true, 3, 4)}, true},
		"a grant that is not in force":           {[]op{w(true, 1, 2), r(false, 3, 4)}, false},
		"a revoke that is not in force":          {[]op{w(true, 1, 2), w(false, 3, 4), r(true, 5, 6)}, false},
		"sent before the revoke was answered":    {[]op{w(true, 1, 2), w(false, 3, 6), r(true, 5, 8)}, true},
		"answered before the change was sent":    {[]op{r(true, 1, 2), w(true, 3, 4)}, false},
		"new, then old, while it is under way":   {[]op{w(true, 1, 9), r(true, 2, 3), r(false, 4, 5)}, true},
		"the same, strictly":                     {[]op{w(true, 1, 9), strict(r(true, 2, 3)), strict(r(false, 4, 5))}, false},
		"unknown: either":                        {[]op{unknown(w(true, 1, 2)), r(true, 3, 4), r(false, 5, 6)}, true},
		"unknown, and then a known one":          {[]op{unknown(w(true, 1, 2)), w(false, 3, 4), r(true, 5, 6)}, false},
		"unknown, strictly, seen and then gone":  {[]op{unknown(w(true, 1, 2)), strict(r(true, 3, 4)), strict(r(false, 5, 6))}, false},
		"unknown, that is there later on":        {[]op{unknown(w(true, 1, 5)), strict(r(false, 2, 3)), strict(r(true, 7, 8))}, true},
		"unknown, that comes after its time":     {[]op{unknown(w(true, 1, 5)), strict(r(false, 6, 7)), strict(r(true, 8, 9))}, false},
		"equal questions, equal answers":         {[]op{w(true, 1, 2), atRevision("7", r(true, 3, 4)), atRevision("7", r(true, 5, 6))}, true},
		"equal questions, two answers":           {[]op{w(true, 1, 9), atRevision("7", r(true, 3, 4)), atRevision("7", r(false, 5, 6))}, false},
		"a question of another revision":         {[]op{w(true, 1, 9), atRevision("7", r(true, 3, 4)), atRevision("8", r(false, 5, 6))}, true},
		"a change that was answered and is gone": {[]op{w(true, 1, 2), w(false, 3, 4), w(true, 5, 6), strict(r(false, 7, 8))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if v := judge(c.ops); (len(v.violations) == 0) != c.good {
				t.Errorf("%v", v.violations)
			}
		})
	}
}
