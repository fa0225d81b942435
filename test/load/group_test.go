package load_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// server is a process with the connections to it.
type server struct {
	name   string
	p      *process
	client *client
	// refused are answers of another status than 200: no decision was made.
	refused int
	logLost bool
}

// ask asks n questions of a stream on all connections.
func (s *server) ask(next stream, n int) error {
	_, err := s.run(*connections, next, func(asked int, _ time.Time) bool { return asked >= n })
	return err
}

func (s *server) run(connections int, next stream, enough func(int, time.Time) bool) (heard, error) {
	h, err := s.client.run(connections, next, enough)
	if err != nil {
		return h, fmt.Errorf("%s: %w", s.name, err)
	}
	s.refused += h.refused
	text, _ := os.ReadFile(s.p.log) // the file of a server that runs is there
	s.logLost = s.logLost || strings.Contains(string(text), "lines of the log were dropped")
	_ = os.Truncate(s.p.log, 0) // a long log only takes room
	return h, nil
}

// until ends a window by its time, or after the most questions that it may ask; 0 is no bound.
func until(most int) func(int, time.Time) bool {
	end := time.Now().Add(*window)
	return func(asked int, now time.Time) bool { return now.After(end) || most > 0 && asked >= most }
}

// cell is a server with one stream of questions, and what they cost.
type cell struct {
	*server
	next stream
	// most is how many questions a window may ask, 0 for as many as it can: a user can be seen
	// for the first time only once.
	most int
	// costs are µs of the server's CPU for each request, rates are requests a second, by window.
	costs, rates []float64
}

// measure is one window.
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

// group is servers that are measured in windows one right after the other, another one first in
// each turn: what disturbs the machine disturbs all of them.
type group struct {
	title string
	cells []*cell
	// warm is how many questions each is asked before the first window.
	warm int
	// limit is what the cost of the first may be at most, in costs of the second; 0 is no limit.
	limit float64
	// rates compares requests a second, the other way round, instead of CPU.
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

// ratio is that of the group's limit.
func (g *group) ratio() interval {
	if g.rates {
		return ratioOf(g.cells[1].rates, g.cells[0].rates)
	}
	return ratioOf(g.cells[0].costs, g.cells[1].costs)
}

// ratioOf sets the windows of one turn against each other.
func ratioOf(of, to []float64) interval {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / to[i]
	}
	return medianOf(ratios)
}
