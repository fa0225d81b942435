package main

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
)

// requestKind are the labels of a request; there are few.
type requestKind struct {
	route            string
	status           int
	decided, allowed bool
}

// counters are a kind's, nil where it has none.
type counters struct {
	requests, decisions prometheus.Counter
	seconds             prometheus.Observer
}

// requestKinds holds the counters of each kind that was seen: finding one by its labels
// takes as long as all else that is counted of a request.
type requestKinds struct {
	mu   sync.RWMutex
	seen map[requestKind]*counters
}

// request counts one answered request.
func (m *metrics) request(r *gateway.Record) {
	c := m.counters(requestKind{r.Route, r.Status, r.PolicyRevision != "", r.Allowed})
	c.requests.Inc()
	c.seconds.Observe(r.Duration.Seconds())
	if c.decisions != nil {
		c.decisions.Inc()
	}
	if r.Limited != "" {
		m.limited.WithLabelValues(r.Limited).Inc()
	}
}

func (m *metrics) counters(kind requestKind) *counters {
	m.kinds.mu.RLock()
	c := m.kinds.seen[kind]
	m.kinds.mu.RUnlock()
	if c != nil {
		return c
	}
	m.kinds.mu.Lock()
	defer m.kinds.mu.Unlock()
	if m.kinds.seen == nil {
		m.kinds.seen = map[requestKind]*counters{}
	}
	c = m.newCounters(kind)
	m.kinds.seen[kind] = c
	return c
}

func (m *metrics) newCounters(kind requestKind) *counters {
	route := kind.route
	if route == "" {
		route = "none"
	}
	c := &counters{requests: m.requests.WithLabelValues(route, strconv.Itoa(kind.status)), seconds: m.seconds.WithLabelValues(route)}
	if kind.decided {
		c.decisions = m.decisions.WithLabelValues(route, decisionWord(kind.allowed))
	}
	return c
}
