package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// WatchDecisions shows how the decision log keeps up.
func (m *Metrics) WatchDecisions(log *decisionlog.Log) {
	m.registry.MustRegister(&decisionLog{
		log:      log,
		written:  prometheus.NewDesc("portcullis_decision_log_written_total", "Decisions that were written to the decision log.", nil, nil),
		lost:     prometheus.NewDesc("portcullis_decision_log_lost_total", "Decisions that were told and are missing in the decision log.", nil, nil),
		failures: prometheus.NewDesc("portcullis_decision_log_failures_total", "Writes of the decision log that failed.", nil, nil),
		waiting:  prometheus.NewDesc("portcullis_decision_log_waiting", "Decisions that wait to be written.", nil, nil),
		unsent:   prometheus.NewDesc("portcullis_decision_log_unsent_bytes", "How much of the decision log on disk the service at --decision-log-url does not have.", nil, nil),
		erased:   prometheus.NewDesc("portcullis_decision_log_sent_erased_total", "Decisions that the service at --decision-log-url got without their input, since it refuses them whole.", nil, nil),
		notSent:  prometheus.NewDesc("portcullis_decision_log_not_sent_total", "Decisions that the service at --decision-log-url does not get: it refuses them, or they can't be read.", nil, nil),
	})
}

// decisionLog is a collector that reads the log's counters at each scrape.
type decisionLog struct {
	log                                                       *decisionlog.Log
	written, lost, failures, waiting, unsent, erased, notSent *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (d *decisionLog) Describe(target chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.written, d.lost, d.failures, d.waiting, d.unsent, d.erased, d.notSent} {
		target <- desc
	}
}

// Collect implements prometheus.Collector.
func (d *decisionLog) Collect(target chan<- prometheus.Metric) {
	s := d.log.Stats()
	target <- prometheus.MustNewConstMetric(d.written, prometheus.CounterValue, float64(s.Written))
	target <- prometheus.MustNewConstMetric(d.lost, prometheus.CounterValue, float64(s.Lost))
	target <- prometheus.MustNewConstMetric(d.failures, prometheus.CounterValue, float64(s.Failures))
	target <- prometheus.MustNewConstMetric(d.waiting, prometheus.GaugeValue, float64(s.Waiting))
	target <- prometheus.MustNewConstMetric(d.unsent, prometheus.GaugeValue, float64(s.Unsent))
	target <- prometheus.MustNewConstMetric(d.erased, prometheus.CounterValue, float64(s.SentErased))
	target <- prometheus.MustNewConstMetric(d.notSent, prometheus.CounterValue, float64(s.NotSent))
}
