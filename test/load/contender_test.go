package load_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// contender is a server with the questions that it is asked.
type contender struct {
	name   string
	p      *process
	client *client
	// most is how many questions a window may ask, 0 for as many as it can: a user can be
	// asked about for the first time only once.
	most int

	costs, rates []float64 // µs of the server's CPU for each request, and requests a second, by window
	alone        []time.Duration
	refused      int
	logLost      bool
}

// What an answer holds that allows.
const (
	gatewayYes = `"allowed":true`
	opaYes     = `"allow":true`
)

// warm asks n questions, so that what a server can remember of them it does.
func (c *contender) warm(b *testing.B, n int) *contender {
	b.Helper()
	h, err := c.client.run(*connections, func(asked int, _ time.Time) bool { return asked >= n })
	if err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	c.note(h)
	return c
}

// measure is one window on all connections.
func (c *contender) measure() (cost, rate float64, err error) {
	before, err := c.p.cpu()
	if err != nil {
		return 0, 0, err
	}
	h, err := c.client.run(*connections, c.until())
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.name, err)
	}
	after, err := c.p.cpu()
	if err != nil || h.requests == 0 {
		return 0, 0, errors.Join(err, fmt.Errorf("%s: %d requests in a window", c.name, h.requests))
	}
	c.note(h)
	cost = float64((after - before).Nanoseconds()) / 1e3 / float64(h.requests)
	rate = float64(h.requests) / h.took.Seconds()
	c.costs, c.rates = append(c.costs, cost), append(c.rates, rate)
	return cost, rate, nil
}

// listen is one window on a single connection: how long an answer takes that waits behind no
// other.
func (c *contender) listen(b *testing.B) {
	b.Helper()
	h, err := c.client.run(1, c.until())
	if err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	c.note(h)
	slices.Sort(h.each)
	c.alone = h.each
}

func (c *contender) until() func(int, time.Time) bool {
	end := time.Now().Add(*window)
	return func(asked int, now time.Time) bool { return now.After(end) || c.most > 0 && asked >= c.most }
}

// note keeps what would make the figures mean less, and empties the log.
func (c *contender) note(h heard) {
	c.refused += h.refused
	text, _ := os.ReadFile(c.p.log) // the file of a server that runs is there
	c.logLost = c.logLost || strings.Contains(string(text), "lines of the log were dropped")
	_ = os.Truncate(c.p.log, 0) // a long log only takes room
}

// comparison is a ratio that is measured in pairs of windows.
type comparison struct {
	title string
	of    *contender
	to    *contender
	// limit is what the ratio may be at most, 0 for a ratio that is only told.
	limit float64
	// rates compares requests a second, the other way round, instead of CPU.
	rates  bool
	ratios []float64
}

// pair measures both, the second one first in every other turn.
func (c *comparison) pair(turn int) error {
	order := []*contender{c.of, c.to}
	if turn%2 == 1 {
		slices.Reverse(order)
	}
	cost, rate := map[*contender]float64{}, map[*contender]float64{}
	for _, one := range order {
		var err error
		if cost[one], rate[one], err = one.measure(); err != nil {
			return err
		}
	}
	if c.rates {
		c.ratios = append(c.ratios, rate[c.to]/rate[c.of])
	} else {
		c.ratios = append(c.ratios, cost[c.of]/cost[c.to])
	}
	return nil
}
