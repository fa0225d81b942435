package mongodb

import (
	"slices"
	"sync"
)

// groupSize is how many changes share a transaction at most. A longer one would lose more often to
// other processes.
const groupSize = 16

// slot is the right to move the epoch, which one transaction of the process has at a time: each writes
// the epoch's document, and to wait here is cheaper than a conflict there. It is free only while the
// queue is empty.
type slot struct {
	size int

	mu    sync.Mutex
	taken bool
	line  []*member
}

// take takes the slot if it is free.
func (l *slot) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := !l.taken
	l.taken = true
	return free
}

// join gives the slot to a change, or puts the change at the end of the queue.
func (l *slot) join(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.taken {
		l.taken = true
		m.slot <- struct{}{}
		return
	}
	l.line = append(l.line, m)
}

// leave removes a change from the queue, and returns false if it is not there any more.
func (l *slot) leave(m *member) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.line, m)
	if i < 0 {
		return false
	}
	l.line = slices.Delete(l.line, i, i+1)
	return true
}

// putBack puts changes at the front of the queue.
func (l *slot) putBack(members []*member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = slices.Concat(members, l.line)
}

// next returns the changes that get the slot. Where it returns none, the slot is free.
func (l *slot) next() []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < min(len(l.line), l.size) && (n == 0 || !l.line[0].alone && !l.line[n].alone) {
		n++
	}
	l.taken = n > 0
	members := slices.Clone(l.line[:n])
	l.line = slices.Delete(l.line, 0, n)
	return members
}

// release gives the slot to the front of the queue.
func (s *Store) release() {
	switch members := s.slot.next(); len(members) {
	case 0:
	case 1:
		members[0].slot <- struct{}{}
	default:
		go s.lead(members)
	}
}
