package outbox

import (
	"encoding/binary"
	"io"
	"time"
)

const (
	firstBound = time.Second
	lastBound  = 15 * time.Minute
)

// delay is how long to wait after so many failures: any time below a bound that doubles
// with each (full jitter), so that the messages of an outage don't come back together.
func (w *Worker) delay(failures int) time.Duration {
	bound := firstBound
	for i := 1; i < failures && bound < lastBound; i++ {
		bound *= 2
	}
	bound = min(bound, lastBound)
	var raw [8]byte
	w.dice.Lock()
	_, err := io.ReadFull(w.cfg.Random, raw[:])
	w.dice.Unlock()
	if err != nil {
		return bound // late, and not lost
	}
	const bits = 53 // a float64 holds so many exactly
	share := float64(binary.BigEndian.Uint64(raw[:])>>(64-bits)) / (1 << bits)
	return time.Duration(share * float64(bound))
}
