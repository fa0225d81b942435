package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// WatchBounds shows how near the process is to its bounds: the gates, by name, and the
// edge's connections and bodies.
func (m *Metrics) WatchBounds(edge *gateway.Edge, gates map[string]*gate.Gate) {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	inflight := prometheus.NewDesc("portcullis_inflight", "Bounded work under way, by gate.", []string{"gate"}, nil)
	waiting := prometheus.NewDesc("portcullis_queued", "Work that waits at a gate.", []string{"gate"}, nil)
	shed := prometheus.NewDesc("portcullis_shed_total", "Work that was refused with 503 because there was too much of it, by gate.", []string{"gate"}, nil)
	bodies := prometheus.NewDesc("portcullis_request_body_bytes", "Bytes that the bodies of requests under way take.", nil, nil)
	open := prometheus.NewDesc("portcullis_connections", "Open connections of the edge.", nil, nil)
	refused := prometheus.NewDesc("portcullis_connections_refused_total", "Connections that were refused, by the bound that refused them.", []string{"bound"}, nil)
	failed := prometheus.NewDesc("portcullis_tls_handshakes_failed_total", "TLS handshakes of clients that failed.", nil, nil)
	m.registry.MustRegister(prometheus.CollectorFunc(func(target chan<- prometheus.Metric) {
		for name, g := range gates {
			if g == nil {
				continue
			}
			target <- prometheus.MustNewConstMetric(inflight, gauge, float64(g.Inside()), name)
			target <- prometheus.MustNewConstMetric(waiting, gauge, float64(g.Waiting()), name)
			target <- prometheus.MustNewConstMetric(shed, counter, float64(g.Refused()), name)
		}
		held, turned := edge.Bodies()
		target <- prometheus.MustNewConstMetric(bodies, gauge, float64(held))
		target <- prometheus.MustNewConstMetric(shed, counter, float64(turned), "bodies")
		now, total, ofAddress := edge.Connections()
		target <- prometheus.MustNewConstMetric(open, gauge, float64(now))
		target <- prometheus.MustNewConstMetric(refused, counter, float64(total), "total")
		target <- prometheus.MustNewConstMetric(refused, counter, float64(ofAddress), "address")
		target <- prometheus.MustNewConstMetric(failed, counter, float64(edge.FailedHandshakes()))
	}))
}
