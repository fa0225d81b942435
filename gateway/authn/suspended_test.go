package authn_test

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/test/must"
)

// afterSleep returns the time on a machine after a suspension for whole seconds: its time of day went on, its monotonic clock
// stood still.
func afterSleep(t *testing.T, start time.Time, slept time.Duration) time.Time {
	t.Helper()
	end := start
	parts := (*struct {
		wall uint64 // with the seconds above the nanoseconds
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&end)) // no function of the standard library makes such a time
	parts.wall += uint64(slept/time.Second) << 30
	if end.Sub(start) != 0 || end.Round(0).Sub(start.Round(0)) != slept {
		t.Fatal("the standard library keeps a time in another form")
	}
	return end
}

// TestKeysAgeWhileTheMachineIsSuspended guarantees that keys of before are not used unasked when a suspended machine goes on,
// and not at all past their maximum age: the provider may have withdrawn one meanwhile.
func TestKeysAgeWhileTheMachineIsSuspended(t *testing.T) {
	for slept, kept := range map[time.Duration]bool{time.Hour: true, 25 * time.Hour: false} {
		p := newProvider(t, jwks(t, standardKeys()...))
		now := atomic.Pointer[time.Time]{}
		start := time.Now()
		now.Store(&start)
		s := p.source(t, newClock(), func(o *authn.URLOptions) { o.Now = func() time.Time { return *now.Load() } })
		must.Get(s.Keys(t.Context(), false))(t)
		end := afterSleep(t, start, slept)
		now.Store(&end)
		if age, _ := s.Age(); age != slept {
			t.Errorf("%s: an age of %s", slept, age)
		}
		p.fail(down)
		if _, err := s.Keys(t.Context(), false); (err == nil) != kept || p.calls.Load() != 2 {
			t.Errorf("%s, with the provider down: %v after %d fetches", slept, err, p.calls.Load())
		}
	}
}
