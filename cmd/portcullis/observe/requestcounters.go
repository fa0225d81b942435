package observe

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// requestLabels are the labels of a request; there are few different ones.
type requestLabels struct {
	route            string
	status           int
	decided, allowed bool
	code             string
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
	c := m.counters(r)
	c.requests.Inc()
	c.seconds.Observe(r.Duration.Seconds())
	if c.decisions != nil {
		c.decisions.Inc()
	}
	if r.Limited != "" {
		m.limited.WithLabelValues(r.Limited).Inc()
	}
	if r.Unauthorized != "" {
		m.unauthorized.WithLabelValues(r.Unauthorized).Inc()
	}
}

// counters returns the counters for the labels of a request, which it finds once for most of them.
func (m *Metrics) counters(r *gateway.Record) *counters {
	labels := requestLabels{r.Route, r.Status, r.PolicyRevision != "", r.Allowed, r.Code}
	m.byLabels.mu.RLock()
	c := m.byLabels.seen[labels]
	m.byLabels.mu.RUnlock()
	if c != nil {
		return c
	}
	m.byLabels.mu.Lock() // PolicyCodes waits for it
	defer m.byLabels.mu.Unlock()
	c = m.newCounters(r)
	if m.byLabels.seen == nil {
		m.byLabels.seen = map[requestLabels]*counters{}
	}
	if len(m.byLabels.seen) < mostLabels { // a tree may make codes of what is asked
		m.byLabels.seen[labels] = c
	}
	return c
}

// mostLabels bounds the labels whose counters are cached.
const mostLabels = 10_000

func (m *Metrics) newCounters(r *gateway.Record) *counters {
	route := cmp.Or(r.Route, routeNone)
	return &counters{
		requests: m.requests.WithLabelValues(route, strconv.Itoa(r.Status)), seconds: m.seconds.WithLabelValues(route), decisions: m.decided(r),
	}
}

// routeNone is the label of requests for which no route was found.
const routeNone = "none"

// Routes shows, before the first of them comes, the requests of these routes, and of none, that fail for no fault of
// the client.
func (m *Metrics) Routes(routes []resources.Route) {
	names := []string{routeNone}
	for i := range routes {
		names = append(names, routes[i].Name)
	}
	for _, name := range names {
		m.seconds.WithLabelValues(name)
		for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable} {
			m.requests.WithLabelValues(name, strconv.Itoa(status))
		}
	}
}
