package flood_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// ask sends a request on a connection and reads the whole answer.
func ask(c net.Conn, r *bufio.Reader, raw string) (status int, err error) {
	if _, err := io.WriteString(c, raw); err != nil {
		return 0, err
	}
	return answer(r)
}

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

// callers ask the same question over and over, each on a connection of their own.
type callers struct {
	conns []net.Conn
	raw   string
}

// newCallers have been answered once: on a busy machine the first decision may be out of time, all
// others are remembered.
func newCallers(g *gateway, n int) (*callers, error) {
	c := &callers{raw: g.question("user-bob-v1")}
	for range n {
		conn, err := net.Dial("tcp", g.address)
		if err != nil {
			return nil, err
		}
		status := 0
		for try := 0; err == nil && status != http.StatusOK && try < 20; try++ {
			status, err = ask(conn, bufio.NewReader(conn), c.raw)
		}
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("answered %d at first", status)
		}
		if err != nil {
			return nil, err
		}
		c.conns = append(c.conns, conn)
	}
	return c, nil
}

// every is how often each of the callers asks, when nothing holds them up.
const every = 8 * time.Millisecond

// window asks for a time, at a steady pace: who is held up asks the more often after it, so
// that a long wait is counted as all those that would have come meanwhile. It gives the
// latencies in order; any answer but 200 is an error.
func (c *callers) window(within time.Duration) ([]time.Duration, error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	began := time.Now()
	for i, conn := range c.conns {
		all.Go(func() {
			r := bufio.NewReader(conn)
			var own []time.Duration
			for due := began.Add(time.Duration(i) * every / time.Duration(len(c.conns))); due.Sub(began) < within; due = due.Add(every) {
				time.Sleep(time.Until(due))
				asked := time.Now() // not due: waking up late is the client's own fault
				if asked.Sub(due) > every {
					asked = due
				}
				status, err := ask(conn, r, c.raw)
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("answered %d", status)
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				own = append(own, time.Since(asked))
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, failed
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p/100))]
}
