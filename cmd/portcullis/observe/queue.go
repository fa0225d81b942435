package observe

import (
	"bytes"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueSize bounds the bytes that wait to be written; the line of a request has about
	// 500.
	queueSize = 4 << 20
	// pipeSize is the largest write that a pipe takes whole (PIPE_BUF): neither another writer
	// nor the end of this process tears it.
	pipeSize = 4096
	// fileSize is the largest write to a file: in single lines the same bytes take a file
	// system ten times as long.
	fileSize = 64 << 10
	// gatherTime is how long lines gather after a write, unless a quarter of the queue is full
	// or the process ends. A busy process writes many lines at once; the line of an idle one
	// is written at once.
	gatherTime = 10 * time.Millisecond
)

// lineQueue takes lines and writes them from a goroutine of its own: no writer waits for a slow,
// stuck or lost reader. A line without room is dropped and counted.
type lineQueue struct {
	out io.Writer
	// most bounds the bytes of one write.
	most int
	// tell writes to out how many lines were dropped.
	tell    func(lines uint64)
	size    int
	dropped atomic.Uint64
	// torn is true if the last write ended within a line. The goroutine alone uses it.
	torn bool
	// filling ends the gathering, ending says the process ends.
	filling chan struct{}
	ending  chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	more   sync.Cond
	lines  []byte // whole lines that wait
	closed bool
}

// newLineQueue starts the goroutine; close ends it. A line allocates nothing: both buffers, to fill
// and to write, are made here.
func newLineQueue(out io.Writer, size int, tell func(lines uint64)) *lineQueue {
	q := &lineQueue{
		out: out, most: mostAtOnce(out), tell: tell, size: size, lines: make([]byte, 0, size),
		filling: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{}),
	}
	q.more.L = &q.mu
	go q.run(make([]byte, 0, size))
	return q
}

// mostAtOnce returns the largest write in bytes. Anything that is not a regular file may be a
// pipe.
func mostAtOnce(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return fileSize
		}
	}
	return pipeSize
}

// lane is a way into the queue. It takes one line a Write, with its line break, and never
// blocks and never fails.
type lane struct {
	*lineQueue
	// leave is how many bytes of the queue stay free for others.
	leave int
}

// Write implements io.Writer.
func (l lane) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.lines)+len(line) > l.size-l.leave {
		l.dropped.Add(1)
		return len(line), nil
	}
	l.lines = append(l.lines, line...)
	l.more.Signal()
	if len(l.lines) > l.size/4 {
		select {
		case l.filling <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// run writes until the queue is closed and empty.
func (q *lineQueue) run(spare []byte) {
	defer close(q.done)
	count := uint64(0)
	for {
		lines, more := q.take(spare)
		if !more {
			return
		}
		spare = lines[:0]
		written := q.write(lines)
		if all := q.dropped.Load(); written && all > count {
			q.tell(all - count)
			count = all
		}
		select {
		case <-q.filling:
		case <-q.ending:
		case <-time.After(gatherTime):
		}
	}
}

// take waits for lines and swaps them for the empty buffer.
func (q *lineQueue) take(empty []byte) (lines []byte, some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && !q.closed {
		q.more.Wait()
	}
	lines, q.lines = q.lines, empty
	return lines, len(lines) > 0
}

// write reports whether the last of the lines was written, and counts those that were not.
func (q *lineQueue) write(lines []byte) (written bool) {
	for len(lines) > 0 {
		now := lines[:wholeLines(lines, q.most)]
		lines = lines[len(now):]
		_, err := whole{q}.Write(now)
		if written = err == nil; !written {
			q.dropped.Add(uint64(bytes.Count(now, []byte{'\n'}))) //nolint:gosec // a count is not negative
		}
	}
	return written
}

// whole writes lines from the queue's goroutine. A full disk may take a part of a line: the next line then does not join
// it.
type whole struct{ *lineQueue }

// Write implements io.Writer. It takes whole lines.
func (w whole) Write(lines []byte) (int, error) {
	if w.torn {
		if _, err := w.out.Write([]byte{'\n'}); err != nil {
			return 0, err
		}
	}
	n, err := w.out.Write(lines)
	w.torn = n > 0 && lines[n-1] != '\n'
	return n, err
}

// wholeLines returns the length of the whole lines that fit into most bytes, otherwise of the first
// line.
func wholeLines(lines []byte, most int) int {
	if len(lines) <= most {
		return len(lines)
	}
	if end := bytes.LastIndexByte(lines[:most], '\n'); end >= 0 {
		return end + 1
	}
	return bytes.IndexByte(lines, '\n') + 1
}

// close takes no more lines and waits until those that were taken are written, within at
// most.
func (q *lineQueue) close(timeout time.Duration) {
	q.mu.Lock()
	if !q.closed {
		close(q.ending)
	}
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(timeout):
	}
}
