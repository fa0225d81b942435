package main

import (
	"bytes"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueSize is how many bytes of the log wait at most to be written; a line of a request
	// has about 500.
	queueSize = 4 << 20
	// pipeSize is what a pipe takes at once (PIPE_BUF): neither another writer nor the end of
	// this process tears it.
	pipeSize = 4096
	// fileSize is what a file is given at once: a file system takes ten times as long for as
	// many bytes in single lines.
	fileSize = 64 << 10
	// gatherTime is how long lines gather after a write, unless a quarter of the room is full
	// or the process ends: a busy process writes many at once, and the line of an idle one is
	// not kept waiting.
	gatherTime = 10 * time.Millisecond
	// flushTime is how long the end of the process waits for the log.
	flushTime = 2 * time.Second
)

// lineQueue takes lines, and writes them from a goroutine of its own: whoever reads the log
// too slowly, not at all or no more holds up nobody. A line that finds no room is dropped and
// counted. Rejected: waiting for room for a time, which every request would wait, and a
// queue without bounds, which would end the process.
type lineQueue struct {
	out io.Writer
	// most is how many bytes are written at once.
	most int
	// tell tells the reader how many lines it misses, on out.
	tell    func(lines uint64)
	size    int
	dropped atomic.Uint64
	// filling says that no more may gather, ending that the process ends.
	filling chan struct{}
	ending  chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	more   sync.Cond
	lines  []byte // whole lines that wait
	closed bool
}

// newLineQueue starts the goroutine; close ends it. A line allocates nothing: both buffers
// are there from the start, the one that fills and the one that is written.
func newLineQueue(out io.Writer, size int, tell func(lines uint64)) *lineQueue {
	q := &lineQueue{
		out: out, most: mostAtOnce(out), tell: tell, size: size, lines: make([]byte, 0, size),
		filling: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{}),
	}
	q.more.L = &q.mu
	go q.run(make([]byte, 0, size))
	return q
}

// mostAtOnce is the size of a write. Whatever is not known to be a file may be a pipe.
func mostAtOnce(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return fileSize
		}
	}
	return pipeSize
}

// lane is a way into the queue that leaves a part of its room to others. It takes one line
// a Write, with its end, and never blocks and never fails.
type lane struct {
	*lineQueue
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
	told := uint64(0)
	for {
		lines, more := q.take(spare)
		if !more {
			return
		}
		spare = lines[:0]
		written := q.write(lines)
		if all := q.dropped.Load(); written && all > told {
			q.tell(all - told)
			told = all
		}
		select {
		case <-q.filling:
		case <-q.ending:
		case <-time.After(gatherTime):
		}
	}
}

// take waits for lines, and gives the empty buffer for them.
func (q *lineQueue) take(empty []byte) (lines []byte, some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && !q.closed {
		q.more.Wait()
	}
	lines, q.lines = q.lines, empty
	return lines, len(lines) > 0
}

// write says whether the last of the lines was written; what was not is counted.
func (q *lineQueue) write(lines []byte) (written bool) {
	for len(lines) > 0 {
		now := lines[:wholeLines(lines, q.most)]
		lines = lines[len(now):]
		_, err := q.out.Write(now)
		if written = err == nil; !written {
			q.dropped.Add(uint64(bytes.Count(now, []byte{'\n'}))) //nolint:gosec // a count is not negative
		}
	}
	return written
}

// wholeLines is the length of as many lines as there are in so many bytes, but of one at
// least.
func wholeLines(lines []byte, most int) int {
	if len(lines) <= most {
		return len(lines)
	}
	if end := bytes.LastIndexByte(lines[:most], '\n'); end >= 0 {
		return end + 1
	}
	return bytes.IndexByte(lines, '\n') + 1
}

// close takes no more lines, and waits until those that were taken are written, for as long
// as within.
func (q *lineQueue) close(within time.Duration) {
	q.mu.Lock()
	if !q.closed {
		close(q.ending)
	}
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(within):
	}
}
