package outbox

import (
	"encoding/binary"
	"io"
	"time"
)

// Bounds of the delay after the first failure and after many.
const (
	firstBound = time.Second
	lastBound  = 15 * time.Minute
)

// delay returns the time until the next attempt: a random time below a bound that doubles with each
// failure (full jitter), so the messages of an outage are not retried together.
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
		return bound
	}
	const bits = 53 // the precision of a float64
	share := float64(binary.BigEndian.Uint64(raw[:])>>(64-bits)) / (1 << bits)
	return time.Duration(share * float64(bound))
}
