package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

func newLimited() *prometheus.CounterVec {
	limited := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portcullis_rate_limited_total", Help: "Requests that were refused with 429, by the rate that refused them.",
	}, []string{"limit"})
	for _, name := range []string{gateway.LimitPrincipal, gateway.LimitService, gateway.LimitAccount, gateway.LimitFailures} {
		limited.WithLabelValues(name)
	}
	return limited
}

// WatchBounds shows how near the process is to its bounds: the gates, by name, and the
// edge's connections and bodies.
func (m *Metrics) WatchBounds(edge *gateway.Edge, gates map[string]*gate.Gate) {
	m.registry.MustRegister(&bounds{
		edge: edge, gates: gates,
		inflight: prometheus.NewDesc("portcullis_inflight", "Bounded work under way, by gate.", []string{"gate"}, nil),
		waiting:  prometheus.NewDesc("portcullis_queued", "Work that waits at a gate.", []string{"gate"}, nil),
		shed:     prometheus.NewDesc("portcullis_shed_total", "Work that was refused with 503 because there was too much of it, by gate.", []string{"gate"}, nil),
		bodies:   prometheus.NewDesc("portcullis_request_body_bytes", "Bytes that the bodies of requests under way take.", nil, nil),
		open:     prometheus.NewDesc("portcullis_connections", "Open connections of the edge.", nil, nil),
		refused:  prometheus.NewDesc("portcullis_connections_refused_total", "Connections that were refused, by the bound that refused them.", []string{"bound"}, nil),
		failed:   prometheus.NewDesc("portcullis_tls_handshakes_failed_total", "TLS handshakes of clients that failed.", nil, nil),
	})
}

// bounds is a collector that reads gates and connections at each scrape.
type bounds struct {
	edge                                           *gateway.Edge
	gates                                          map[string]*gate.Gate
	inflight, waiting, shed, bodies, open, refused *prometheus.Desc
	failed                                         *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b *bounds) Describe(target chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.inflight, b.waiting, b.shed, b.bodies, b.open, b.refused, b.failed} {
		target <- d
	}
}

// Collect implements prometheus.Collector.
func (b *bounds) Collect(target chan<- prometheus.Metric) {
	for name, g := range b.gates {
		if g == nil {
			continue
		}
		target <- prometheus.MustNewConstMetric(b.inflight, prometheus.GaugeValue, float64(g.Inside()), name)
		target <- prometheus.MustNewConstMetric(b.waiting, prometheus.GaugeValue, float64(g.Waiting()), name)
		target <- prometheus.MustNewConstMetric(b.shed, prometheus.CounterValue, float64(g.Refused()), name)
	}
	held, turned := b.edge.Bodies()
	target <- prometheus.MustNewConstMetric(b.bodies, prometheus.GaugeValue, float64(held))
	target <- prometheus.MustNewConstMetric(b.shed, prometheus.CounterValue, float64(turned), "bodies")
	open, total, ofAddress := b.edge.Connections()
	target <- prometheus.MustNewConstMetric(b.open, prometheus.GaugeValue, float64(open))
	target <- prometheus.MustNewConstMetric(b.refused, prometheus.CounterValue, float64(total), "total")
	target <- prometheus.MustNewConstMetric(b.refused, prometheus.CounterValue, float64(ofAddress), "address")
	target <- prometheus.MustNewConstMetric(b.failed, prometheus.CounterValue, float64(b.edge.FailedHandshakes()))
}
