package gate_test

import (
	"io"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// TestWhatComesOverTheNetworkGoesBeforeWorkThatWaits: also where there is work without an end,
// and one processor for both.
func TestWhatComesOverTheNetworkGoesBeforeWorkThatWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g, near, far := gate.GivingWay(1, 10), make(chan net.Conn, 1), net.Conn(nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	go func() { c, _ := l.Accept(); near <- c }()
	in := <-near
	defer func() { _ = in.Close() }()

	const every, times = 200, 15
	var step, sent atomic.Int64
	var end atomic.Bool
	work := func() {
		for !end.Load() {
			if err := g.Enter(t.Context()); err != nil {
				t.Error(err)
				return
			}
			if now := step.Add(1); now%every == 0 {
				sent.Store(now)
				_, _ = far.Write([]byte("?")) // who reads would say so
			}
			for began := time.Now(); time.Since(began) < 20*time.Microsecond; {
			}
			g.Leave()
		}
	}
	done := make(chan struct{})
	for range 5 {
		go func() { defer func() { done <- struct{}{} }(); work() }()
	}
	var late []int64
	for range times {
		if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		late = append(late, step.Load()-sent.Load())
	}
	end.Store(true)
	for range 5 {
		<-done
	}
	slices.Sort(late)
	if got := late[len(late)/2]; got > 3 {
		t.Errorf("what came was looked at %d steps later (%v)", got, late)
	}
}
