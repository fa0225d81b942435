package load_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// server is a process and a client with connections to it.
type server struct {
	name   string
	p      *process
	client *client
	// refused counts answers with another status than 200.
	refused int
	logLost bool
}

// ask asks n questions of a stream on all connections.
func (s *server) ask(next stream, n int) error {
	_, err := s.run(*connections, next, func(asked int, _ time.Time) bool { return asked >= n })
	return err
}

func (s *server) run(connections int, next stream, enough func(int, time.Time) bool) (result, error) {
	h, err := s.client.run(connections, next, enough)
	if err != nil {
		return h, fmt.Errorf("%s: %w", s.name, err)
	}
	s.refused += h.refused
	text, _ := os.ReadFile(s.p.log) // launch created the file
	s.logLost = s.logLost || strings.Contains(string(text), "lines of the log were dropped")
	_ = os.Truncate(s.p.log, 0) // a long log would take space
	return h, nil
}

// until returns a function that ends a window after its time, or after most questions if most is not 0.
func until(most int) func(int, time.Time) bool {
	end := time.Now().Add(*window)
	return func(asked int, now time.Time) bool { return now.After(end) || most > 0 && asked >= most }
}

// cell is a server with one stream of questions, and their costs.
type cell struct {
	*server
	next stream
	// most bounds the questions in a window unless it is 0: each user is new only once.
	most int
	// costs has the server's CPU time for each request in µs, and rates the requests a second, by window.
	costs, rates []float64
}

// measure measures one window.
func (c *cell) measure() error {
	before, err := c.p.cpu()
	if err != nil {
		return err
	}
	h, err := c.run(*connections, c.next, until(c.most))
	if err != nil {
		return err
	}
	after, err := c.p.cpu()
	if err != nil || h.requests == 0 {
		return errors.Join(err, fmt.Errorf("%s: %d requests in a window", c.name, h.requests))
	}
	c.costs = append(c.costs, float64((after-before).Nanoseconds())/1e3/float64(h.requests))
	c.rates = append(c.rates, float64(h.requests)/h.took.Seconds())
	return nil
}

// group is servers to compare. It measures their windows one right after the other, with another server first in each
// turn, so that a disturbance of the machine affects all of them.
type group struct {
	title string
	cells []*cell
	// warm is the number of questions to each server before the first window.
	warm int
	// limit bounds the cost of the first server, as a ratio to the second; 0 means none.
	limit float64
	// rates compares requests a second (of the second server to the first) instead of CPU time.
	rates bool
}

func (g *group) measure() error {
	for _, c := range g.cells {
		if err := c.ask(c.next, g.warm); err != nil {
			return fmt.Errorf("%s: %w", g.title, err)
		}
	}
	for turn := range *pairs {
		for i := range g.cells {
			if err := g.cells[(turn+i)%len(g.cells)].measure(); err != nil {
				return fmt.Errorf("%s: %w", g.title, err)
			}
		}
	}
	return nil
}

// ratio returns the ratio for the group's limit.
func (g *group) ratio() interval {
	if g.rates {
		return ratioOf(g.cells[1].rates, g.cells[0].rates)
	}
	return ratioOf(g.cells[0].costs, g.cells[1].costs)
}

// ratioOf returns the median of the ratios of both windows in each turn.
func ratioOf(costs, bases []float64) interval {
	ratios := make([]float64, len(costs))
	for i := range costs {
		ratios[i] = costs[i] / bases[i]
	}
	return medianOf(ratios)
}
