package gateway

import (
	"sync"
	"time"
)

// Only so many newcomers are waited for at once, each for so long at most.
const (
	newcomers    = 8
	newcomerTime = 10 * time.Millisecond
)

// newcomer is a connection of which there is something to read, until its first answer, or until
// there is no more to read, or its end.
type newcomer struct {
	until time.Time
	done  chan struct{}
	once  sync.Once
}

// settled says that it is none any more; nobody serves a nil one yet.
func (n *newcomer) settled() {
	if n != nil {
		n.once.Do(func() { close(n.done) })
	}
}

// pace are the newcomers of a listener, which one goroutine accepts.
type pace struct {
	last [newcomers]*newcomer
	next int
}

// add waits until the oldest newcomer is none, or has had its time, and takes its place.
func (p *pace) add() *newcomer {
	if oldest := p.last[p.next]; oldest != nil {
		oldest.wait()
	}
	n := &newcomer{until: time.Now().Add(newcomerTime), done: make(chan struct{})}
	p.last[p.next] = n
	p.next = (p.next + 1) % newcomers
	return n
}

func (n *newcomer) wait() {
	select {
	case <-n.done:
		return
	default:
	}
	timer := time.NewTimer(time.Until(n.until))
	defer timer.Stop()
	select {
	case <-n.done:
	case <-timer.C:
	}
}
