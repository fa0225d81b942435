package listen

import (
	"context"
	"os"
	"time"
)

// certificatePoll is the time between two looks at the files. A change is taken over after the second
// look that finds it.
const certificatePoll = 2 * time.Second

// Watch takes changed files into use until ctx ends. A change counts if two looks in a row found the same, since the
// files may be replaced one after the other. After a signal on now the next look counts at once. reloaded is called
// with nil for each accepted change, and with the error of each refused one: the last good files then stay in use.
func (c *Certificates) Watch(ctx context.Context, now <-chan os.Signal, reloaded func(error)) {
	w := rotation{certificates: c, judged: c.current.Load().revision}
	poll := time.NewTicker(certificatePoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			w.look(false, reloaded)
		case <-now:
			w.look(true, reloaded)
		}
	}
}

// rotation follows the files.
type rotation struct {
	certificates *Certificates
	// judged is the last judged revision; seen is judged if the next look finds it again.
	judged, seen string
}

// look reads the files, and judges a change that is certain.
func (w *rotation) look(certain bool, reloaded func(error)) {
	read := w.certificates.read()
	switch {
	case certain:
	case read.revision == w.judged:
		w.seen = ""
		return
	case read.revision != w.seen:
		w.seen = read.revision
		return
	}
	w.judged, w.seen = read.revision, ""
	if read.err == nil {
		w.certificates.current.Store(read)
	}
	reloaded(read.err)
}
