package flood_test

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// answer reads a whole answer.
func answer(r *bufio.Reader) (status int, err error) {
	a, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = a.Body.Close() }()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, err
}

// caller asks on a connection of its own.
type caller struct {
	conn    *net.TCPConn
	answers *arrivals
	room    []byte
}

func newCaller(address string) (*caller, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn)
	answers, err := newArrivals(conn)
	return &caller{conn: conn, answers: answers, room: make([]byte, 64<<10)}, err
}

// ask sends a request, and says when it was sent and when its answer had come.
func (c *caller) ask(raw string) (status int, sent, came time.Time, err error) {
	if _, err = io.WriteString(c.conn, raw); err != nil {
		return 0, sent, came, err
	}
	sent = time.Now()
	for size := 0; ; {
		n, came, err := c.answers.read(c.room[size:])
		if err != nil || n == 0 {
			return 0, sent, came, cmp.Or(err, io.ErrUnexpectedEOF)
		}
		size += n
		switch status, err := answer(bufio.NewReader(bytes.NewReader(c.room[:size]))); {
		case err == nil:
			return status, sent, came, nil
		case !errors.Is(err, io.ErrUnexpectedEOF):
			return 0, sent, came, err
		}
	}
}

// callers ask the same question over and over, each on a connection of their own.
type callers struct {
	each []*caller
	raw  string
}

// newCallers have been answered once: on a busy machine the first decision may be out of time, all
// others are remembered.
func newCallers(g *gateway, n int) (*callers, error) {
	c := &callers{raw: g.question("user-bob-v1")}
	for range n {
		one, err := newCaller(g.address)
		status := 0
		for try := 0; err == nil && status != http.StatusOK && try < 20; try++ {
			status, _, _, err = one.ask(c.raw)
		}
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("answered %d at first", status)
		}
		if err != nil {
			return nil, err
		}
		c.each = append(c.each, one)
	}
	return c, nil
}

// every is how often each of the callers asks, when nothing holds them up.
const every = 8 * time.Millisecond

// latencies are those of one window, in order.
type latencies struct {
	// due are counted from the planned time of a request: a long wait counts for all the requests planned meanwhile.
	// sent are counted from its sending.
	due, sent []time.Duration
}

// window asks for a time, at a steady pace: a caller that is held up asks the more often after it.
// Any answer but 200 is an error.
func (c *callers) window(timeout time.Duration) (took latencies, failed error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	began := time.Now()
	for i, one := range c.each {
		all.Go(func() {
			var measured latencies
			var last time.Time
			for due := began.Add(time.Duration(i) * every / time.Duration(len(c.each))); due.Sub(began) < timeout; due = due.Add(every) {
				time.Sleep(time.Until(due))
				status, sent, came, err := one.ask(c.raw)
				since := sent // not since it was due: waking up late is the caller's own fault
				if last.After(due) {
					since = due
				}
				last = came
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("answered %d", status)
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				measured.due = append(measured.due, between(since, came))
				measured.sent = append(measured.sent, between(sent, came))
			}
			mu.Lock()
			took.due, took.sent = append(took.due, measured.due...), append(took.sent, measured.sent...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took.due)
	slices.Sort(took.sent)
	return took, failed
}

// between is the time from one to the other by the wall clock, which is the kernel's stamp of an answer too.
func between(start, end time.Time) time.Duration { return max(end.Round(0).Sub(start.Round(0)), 0) }

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p/100))]
}
