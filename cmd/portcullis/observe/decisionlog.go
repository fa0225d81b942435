package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// WatchDecisions shows how the decision log keeps up.
func (m *Metrics) WatchDecisions(log *decisionlog.Log) {
	m.registry.MustRegister(prometheus.CollectorFunc(func(target chan<- prometheus.Metric) {
		s := log.Stats()
		send := func(kind prometheus.ValueType, value float64, name, help string) {
			target <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, value)
		}
		const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
		send(counter, float64(s.Written), "portcullis_decision_log_written_total", "Decisions that were written to the decision log.")
		send(counter, float64(s.Lost), "portcullis_decision_log_lost_total", "Decisions that were told and are missing in the decision log.")
		send(counter, float64(s.Failures), "portcullis_decision_log_failures_total", "Writes of the decision log that failed.")
		send(gauge, float64(s.Waiting), "portcullis_decision_log_waiting", "Decisions that wait to be written.")
		send(gauge, float64(s.Unsent), "portcullis_decision_log_unsent_bytes", "How much of the decision log on disk the service at --decision-log-url does not have.")
		send(counter, float64(s.SentErased), "portcullis_decision_log_sent_erased_total", "Decisions that the service at --decision-log-url got without their input, since it refuses them whole.")
		send(counter, float64(s.NotSent), "portcullis_decision_log_not_sent_total", "Decisions that the service at --decision-log-url does not get: it refuses them, or they can't be read.")
	}))
}
