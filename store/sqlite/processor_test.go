package sqlite_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// TestWhoWaitsForTheDiskHasAProcessorOfItsOwn: where there is one for all, and for as long as
// somebody waits; where there are more nothing changes.
func TestWhoWaitsForTheDiskHasAProcessorOfItsOwn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	failed := errors.New("failed")
	for have, want := range map[int]int{1: 2, 2: 2, 3: 3} {
		runtime.GOMAXPROCS(have)
		processors := func(what string, want int) {
			if got := runtime.GOMAXPROCS(0); got != want {
				t.Errorf("of %d, %s: %d processors, want %d", have, what, got, want)
			}
		}
		inside, leave, left := make(chan struct{}), make(chan struct{}), make(chan error)
		for range 2 {
			go func() {
				left <- sqlite.Aside(func() error { inside <- struct{}{}; <-leave; return failed })
			}()
			<-inside
			processors("somebody waits", want)
		}
		leave <- struct{}{}
		if err := <-left; !errors.Is(err, failed) {
			t.Error(err)
		}
		processors("another one still does", want)
		leave <- struct{}{}
		<-left
		processors("nobody does", have)
		func() {
			defer func() { _ = recover() }()
			_ = sqlite.Aside(func() error { panic(failed) })
		}()
		processors("after a panic", have)
	}
}
