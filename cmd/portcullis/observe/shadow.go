package observe

import (
	"github.com/prometheus/client_golang/prometheus"
)

// WatchShadow returns a function that counts a question of the candidate policy by its outcome, one of these.
func (m *Metrics) WatchShadow(outcomes ...string) (observe func(outcome string)) {
	judged := m.preset("portcullis_shadow_total", "Questions that the policy of --shadow-policy-dir was asked beside the one in force, by outcome.", "outcome")
	counters := map[string]prometheus.Counter{} // each found once: what is dropped is counted on the way of requests
	for _, outcome := range outcomes {
		counters[outcome] = judged.WithLabelValues(outcome)
	}
	return func(outcome string) { counters[outcome].Inc() }
}
