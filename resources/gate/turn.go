package gate

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// turn gives way to what came over the network meanwhile. Go looks there only when nothing is
// ready to run any more, or after ten milliseconds, and has no priorities: while work comes in
// without an end, who is answered in microseconds would stand behind all of it. Who waits for
// a turn goes on when the network tells so, and with that behind all that came before.
//
// A nil turn gives no way. A turn is for one goroutine at a time.
type turn struct {
	in, out *os.File
	raw     syscall.RawConn
	told    func(uintptr) bool
	asked   bool
	garbage *garbage
}

// newTurn is nil where the system has no such thing, or no files left.
func newTurn() *turn {
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	t := &turn{in: in, out: out, garbage: newGarbage()}
	if t.raw, err = in.SyscallConn(); err != nil || in.SetReadDeadline(time.Time{}) != nil { // only what is waited for has deadlines
		_ = errors.Join(in.Close(), out.Close())
		return nil
	}
	t.told = t.tell
	return t
}

// wait gives way: twice, since what comes while others go on who had to wait, too, stands behind
// the first time. It costs some microseconds, and a collection now and then.
func (t *turn) wait() {
	if t == nil {
		return
	}
	t.once()
	t.once()
	t.garbage.collect()
}

func (t *turn) once() {
	t.asked = false
	if t.raw.Read(t.told) == nil && t.asked {
		var one [1]byte
		_, _ = t.in.Read(one[:]) // it is there
	}
}

// tell has the network tell: first there is nothing to read, so that it is waited for.
func (t *turn) tell(uintptr) bool {
	if t.asked {
		return true
	}
	n, _ := t.out.Write([]byte{0})
	t.asked = n == 1
	return !t.asked
}
