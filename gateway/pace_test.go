package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// TestNewcomersAreTakenInAFewAtATime: the next one when the oldest was answered, or has had
// its time, so that those who never ask hold nobody up for longer.
func TestNewcomersAreTakenInAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		add := gateway.Accepting()
		waited := func() time.Duration { began := time.Now(); add(); return time.Since(began) }
		var first []func()
		for range gateway.Newcomers {
			began := time.Now()
			if first = append(first, add()); time.Since(began) != 0 {
				t.Fatal("it waits for few")
			}
		}
		for range 3 {
			first[0]()
			first[0]() // its end, after its answer
			if first = first[1:]; waited() != 0 {
				t.Error("it waits for one that was answered")
			}
		}
		if got := waited(); got != gateway.NewcomerTime {
			t.Errorf("it waits %s for one that does not ask, want %s", got, gateway.NewcomerTime)
		}
		total := time.Duration(0)
		for range 10 * gateway.Newcomers {
			total += waited()
		}
		if most := 11 * gateway.NewcomerTime; total > most {
			t.Errorf("those who do not ask held the others up for %s, more than %s", total, most)
		}
	})
}
