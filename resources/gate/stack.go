package gate

import "iter"

// stack has work done on a goroutine of its own, while whoever asks for it waits: they change over
// without the scheduler, in a tenth of a microsecond. What the work needs of a stack, an evaluation
// of policy 32 KiB, is so needed once for each that may be inside, and not for each connection
// whose work was ever done.
//
// A stack is for one caller at a time.
type stack struct {
	next func() (struct{}, bool)
	work func()
}

// do does the work. A panic of it is the caller's.
func (s *stack) do(work func()) {
	if s.next == nil {
		s.next, _ = iter.Pull(s.each)
	}
	s.work = work
	done := false
	defer func() {
		s.work = nil
		if !done {
			s.next = nil // what panicked is over
		}
	}()
	if _, done = s.next(); !done {
		panic("gate: the work was not done")
	}
}

func (s *stack) each(yield func(struct{}) bool) {
	for {
		s.work()
		if !yield(struct{}{}) {
			return
		}
	}
}
