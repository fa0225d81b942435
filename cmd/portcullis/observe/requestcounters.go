package observe

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
)

// requestLabels are the labels of a request; there are few different ones.
type requestLabels struct {
	route            string
	status           int
	decided, allowed bool
}

// counters are those of requests with the same labels; a counter that does not apply to them
// is nil.
type counters struct {
	requests, decisions prometheus.Counter
	seconds             prometheus.Observer
}

// requestCounters caches the counters by the labels of the request: to find them in the
// registry takes as long as all else that is counted of a request.
type requestCounters struct {
	mu   sync.RWMutex
	seen map[requestLabels]*counters
}

// Request counts one answered request.
func (m *Metrics) Request(r *gateway.Record) {
	c := m.counters(requestLabels{r.Route, r.Status, r.PolicyRevision != "", r.Allowed})
	c.requests.Inc()
	c.seconds.Observe(r.Duration.Seconds())
	if c.decisions != nil {
		c.decisions.Inc()
	}
	if r.Limited != "" {
		m.limited.WithLabelValues(r.Limited).Inc()
	}
}

func (m *Metrics) counters(labels requestLabels) *counters {
	m.byLabels.mu.RLock()
	c := m.byLabels.seen[labels]
	m.byLabels.mu.RUnlock()
	if c != nil {
		return c
	}
	m.byLabels.mu.Lock()
	defer m.byLabels.mu.Unlock()
	if m.byLabels.seen == nil {
		m.byLabels.seen = map[requestLabels]*counters{}
	}
	c = m.newCounters(labels)
	m.byLabels.seen[labels] = c
	return c
}

func (m *Metrics) newCounters(labels requestLabels) *counters {
	route := labels.route
	if route == "" {
		route = "none"
	}
	c := &counters{requests: m.requests.WithLabelValues(route, strconv.Itoa(labels.status)), seconds: m.seconds.WithLabelValues(route)}
	if labels.decided {
		c.decisions = m.decisions.WithLabelValues(route, decisionWord(labels.allowed))
	}
	return c
}
