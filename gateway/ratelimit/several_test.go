package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
)

func takeN(l *ratelimit.Limiter, n int) ratelimit.Verdict {
	return l.Take(context.Background(), "a", n, l.Deadline())
}

// TestSeveralAreTakenAllOrNone: a request of many tokens that the bucket lacks takes none, and says when
// it has them.
func TestSeveralAreTakenAllOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "10/s,10", nil, 0)
		if v := takeN(l, 7); !v.Allowed || v.Remaining != 3 {
			t.Errorf("%+v", v)
		}
		if v := takeN(l, 4); v.Allowed || v.RetryAfter != 100*time.Millisecond {
			t.Errorf("%+v", v)
		}
		if v := takeN(l, 11); v.Allowed {
			t.Errorf("more than a burst: %+v", v)
		}
		if n := through(l, "a", 5); n != 3 {
			t.Errorf("%d left after a refusal, want 3", n)
		}
		time.Sleep(time.Second)
		if v := takeN(l, 10); !v.Allowed || takeN(l, 1).Allowed {
			t.Errorf("%+v", v)
		}
	})
}

// TestSeveralOfASharedRate: replicas together allow what one would, a refused request costs no second
// call, and no token: each replica has for smaller ones what is left.
func TestSeveralOfASharedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		one, two := limiter(t, "10/s,100", w, 0), limiter(t, "10/s,100", w, 0)
		if v := takeN(one, 60); !v.Allowed {
			t.Errorf("%+v", v)
		}
		if v := takeN(two, 60); v.Allowed || v.RetryAfter <= 0 {
			t.Errorf("%+v", v)
		}
		asked := w.asked
		if v := takeN(two, 60); v.Allowed || w.asked != asked {
			t.Errorf("%+v after %d calls", v, w.asked-asked)
		}
		if n := through(one, "a", 15) + through(two, "a", 60); n != 40 {
			t.Errorf("%d of 40 tokens that were left", n)
		}
		time.Sleep(6 * time.Second)
		if v := takeN(two, 60); !v.Allowed {
			t.Errorf("after RetryAfter: %+v", v)
		}
	})
}

// TestSeveralWithoutShared guarantees that a limiter takes several tokens from the process's own bucket if Shared is
// down, or returns more tokens than it was asked for.
func TestSeveralWithoutShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, shared := range map[string]ratelimit.Shared{"down": panics{}, "lies": generous{}} {
			l := limiter(t, "10/s,100", shared, 0)
			began := time.Now()
			if v := takeN(l, 100); !v.Allowed || takeN(l, 1).Allowed || time.Since(began) > time.Second {
				t.Errorf("%s: %+v after %s", name, v, time.Since(began))
			}
		}
	})
}

// TestOwedTokensComeFirst guarantees that completed work can take more tokens than the bucket has. The limiter allows
// nothing more until the bucket has paid them.
func TestOwedTokensComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, "10/s,10", nil, 0)
		if v := owe(l, 4); !v.Allowed || v.Remaining != 6 {
			t.Errorf("of what is there: %+v", v)
		}
		if v := owe(l, 26); v.Remaining != 0 || v.Reset != 3*time.Second {
			t.Errorf("beyond it: %+v", v)
		}
		if v := takeN(l, 1); v.Allowed || v.RetryAfter != 2100*time.Millisecond {
			t.Errorf("%+v", v)
		}
		time.Sleep(2 * time.Second)
		if takeN(l, 1).Allowed {
			t.Error("allowed with nothing paid back")
		}
		time.Sleep(100 * time.Millisecond)
		if !takeN(l, 1).Allowed {
			t.Error("refused with all paid back")
		}
	})
}

// TestOwedTokensAreOwedToAll: what a replica's caller owes is taken of the shared bucket as far as it is there, also
// where the replica has tokens in advance.
func TestOwedTokensAreOwedToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		one, two := limiter(t, "10/s,100", w, 0), limiter(t, "10/s,100", w, 0)
		if !takeN(one, 20).Allowed {
			t.Error("refused")
		}
		owe(one, 60)
		if n := through(two, "a", 60); n > 20 {
			t.Errorf("another replica allows %d of 20 that are left", n)
		}
		owe(one, 300)
		if takeN(two, 1).Allowed || takeN(one, 1).Allowed {
			t.Error("allowed by an empty bucket")
		}
	})
}

func owe(l *ratelimit.Limiter, n int) ratelimit.Verdict {
	return l.Owe(context.Background(), "a", n, l.Deadline())
}
