package observe

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// sink is a reader of the log that takes a write when it is let.
type sink struct {
	let    chan struct{}
	mu     sync.Mutex
	writes []string
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, string(p))
	return len(p), s.err
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.writes, "")
}

// stuck is a queue of 100 bytes with its goroutine in an endless write of one line.
func stuck(t *testing.T) (*sink, *lineQueue) {
	t.Helper()
	s := &sink{let: make(chan struct{})}
	q := newLineQueue(s, 100, func(lines uint64) { s.writes = append(s.writes, fmt.Sprintf("%d missing\n", lines)) })
	fmt.Fprintln(lane{q, 0}, "first")
	synctest.Wait()
	return s, q
}

// TestStuckReaderOfTheLogHoldsUpNobody guarantees that lines without room are counted, and the
// others come in order when the reader goes on. Then one line reports how many are missing.
func TestStuckReaderOfTheLogHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, q := stuck(t)
		for i := range 30 {
			fmt.Fprintf(lane{q, 0}, "line %02d..\n", i) // ten bytes each: ten of them find room
		}
		if n := q.dropped.Load(); n != 20 {
			t.Errorf("%d lines were dropped", n)
		}
		close(s.let)
		synctest.Wait()
		fmt.Fprintln(lane{q, 0}, "last")
		q.close(time.Hour)
		want := "first\n"
		for i := range 10 {
			want += fmt.Sprintf("line %02d..\n", i)
		}
		// The first write ended when the lines had been dropped.
		if want = strings.Replace(want, "first\n", "first\n20 missing\n", 1) + "last\n"; s.text() != want {
			t.Errorf("the log is\n%s", s.text())
		}
	})
}

func TestLinesOfRequestsLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, q := stuck(t)
		for range 30 {
			fmt.Fprintln(lane{q, 20}, "a request")
		}
		fmt.Fprintln(lane{q, 0}, "a warning")
		if n := q.dropped.Load(); n != 22 {
			t.Errorf("%d lines were dropped", n)
		}
		close(s.let)
		q.close(time.Hour)
		if !strings.HasSuffix(s.text(), "a warning\n") {
			t.Errorf("the log is\n%s", s.text())
		}
	})
}

// TestLinesGatherAfterAWrite: the first one is written at once, what comes within a moment
// together.
func TestLinesGatherAfterAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{let: make(chan struct{})}
		close(s.let)
		q := newLineQueue(s, 1000, func(uint64) {})
		for i := range 4 {
			fmt.Fprintf(lane{q, 0}, "line %d\n", i)
			synctest.Wait()
		}
		if got := s.text(); got != "line 0\n" {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(gatherTime)
		synctest.Wait()
		if len(s.writes) != 2 || s.text() != "line 0\nline 1\nline 2\nline 3\n" {
			t.Errorf("then: %q", s.writes)
		}
		q.close(time.Hour)
	})
}

// TestEndOfTheProcessWaitsForTheLog, but not for ever; later lines are counted.
func TestEndOfTheProcessWaitsForTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, q := stuck(t)
		fmt.Fprintln(lane{q, 0}, "second")
		started := time.Now()
		q.close(time.Second)
		if took := time.Since(started); took != time.Second {
			t.Errorf("a stuck reader held up the end for %s", took)
		}
		fmt.Fprintln(lane{q, 0}, "late")
		close(s.let)
		q.close(time.Hour)
		if s.text() != "first\nsecond\n1 missing\n" && s.text() != "first\n1 missing\nsecond\n" || time.Since(started) != time.Second {
			t.Errorf("the log is %q, after %s", s.text(), time.Since(started))
		}
	})
}

// TestReaderThatIsGoneIsCounted guarantees that the next reader gets the number of lost lines.
func TestReaderThatIsGoneIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, q := stuck(t)
		s.err = errors.New("gone")
		fmt.Fprintln(lane{q, 0}, "second")
		close(s.let)
		time.Sleep(gatherTime)
		synctest.Wait()
		s.err = nil
		if n := q.dropped.Load(); n != 2 {
			t.Errorf("%d lines were dropped", n)
		}
		fmt.Fprintln(lane{q, 0}, "third")
		q.close(time.Hour)
		if !strings.HasSuffix(s.text(), "third\n2 missing\n") {
			t.Errorf("the log is %q", s.text())
		}
	})
}

// disk is a file that takes so many bytes.
type disk struct {
	room int
	text strings.Builder
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(d.room, len(p))
	d.room -= n
	d.text.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestALineThatADiskTakesInPartEndsThere guarantees that a full disk spoils no line after it has room again.
func TestALineThatADiskTakesInPartEndsThere(t *testing.T) {
	for room := range len("one\ntwo\n") {
		d := &disk{room: room}
		q := lineQueue{out: d, most: pipeSize}
		for range 3 { // the disk is full for a while
			q.write([]byte("one\ntwo\n"))
			fmt.Fprintln(whole{&q}, "missing")
		}
		d.room = 100
		q.write([]byte("three\nfour\n"))
		text := d.text.String()
		if !strings.HasSuffix("\n"+text, "\nthree\nfour\n") || strings.Contains(text, "\n\n") || strings.HasPrefix(text, "\n") {
			t.Errorf("with room for %d bytes: %q", room, text)
		}
	}
}

// TestNoLineIsTorn: writers at once leave whole lines in the order of each, and a write is
// whole lines of no more than a pipe takes at once, but for a line that is longer.
func TestNoLineIsTorn(t *testing.T) {
	const writers, lines = 8, 500
	s := &sink{let: make(chan struct{})}
	close(s.let)
	const room = 4 * queueSize // for all of them: nobody may get to write in between
	q := newLineQueue(s, room, func(n uint64) { t.Errorf("%d lines were dropped", n) })
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range lines {
				fmt.Fprintf(lane{q, 0}, "%d %d %s\n", w, i, strings.Repeat("x", i*w%(pipeSize+100)))
			}
		})
	}
	wait.Wait()
	q.close(time.Minute)
	var next [writers]int
	for line := range strings.Lines(s.text()) {
		var w, i int
		var rest string
		_, _ = fmt.Sscanf(line, "%d %d %s", &w, &i, &rest) // the rest may be empty
		if i != next[w] || len(rest) != i*w%(pipeSize+100) || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%.40q comes after line %d of that writer", line, next[w]-1)
		}
		next[w]++
	}
	for w, n := range next {
		if n != lines {
			t.Errorf("writer %d has %d lines", w, n)
		}
	}
	for _, write := range s.writes {
		if !strings.HasSuffix(write, "\n") || len(write) > pipeSize && strings.Count(write, "\n") != 1 {
			t.Errorf("a write of %d bytes and %d lines", len(write), strings.Count(write, "\n"))
		}
	}
}

// BenchmarkAccessLine compares a log written at once with a queued one, both into a pipe with a
// reader.
func BenchmarkAccessLine(b *testing.B) {
	record := gateway.Record{
		RequestID: "01k8zs3v9m5w0c6q7r8t9x2y4z", Method: "POST", Path: "/api/v1/authorize/accounts/acct-a-v1/projects/proj-p-v1/instances/i-1",
		Route: "authorization.check", Principal: "service-proxy", Action: "project:instance:read", Account: "acct-a-v1", Subject: "user-alice-v1", Status: 200, Allowed: true,
		Reason: "role project_reader grants project:instance:read", PolicyRevision: "0123456789abcdef", Duration: 123 * time.Microsecond,
	}
	pipe := func(b *testing.B) io.Writer {
		b.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		b.Cleanup(func() { _ = errors.Join(w.Close(), r.Close()) })
		return w
	}
	b.Run("direct", func(b *testing.B) {
		log := newLogger(pipe(b), "json", slog.LevelInfo)
		b.ReportAllocs()
		for b.Loop() {
			accessLine(log.Handler(), &record)
		}
	})
	b.Run("queued", func(b *testing.B) {
		log := NewLog(pipe(b), "json", 0)
		b.ReportAllocs()
		for b.Loop() {
			log.access.request(&record)
		}
		log.queue.close(time.Minute)
		b.ReportMetric(float64(log.queue.dropped.Load())/float64(b.N), "dropped/op")
	})
}
