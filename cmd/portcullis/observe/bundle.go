package observe

import (
	"github.com/prometheus/client_golang/prometheus"
)

// WatchBundle returns a function that counts a poll of the policy bundle by its result, one of these.
func (m *Metrics) WatchBundle(results ...string) (observe func(result string)) {
	polls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portcullis_policy_bundle_polls_total", Help: "Polls of --policy-bundle, by result.",
	}, []string{"result"})
	m.registry.MustRegister(polls)
	for _, result := range results {
		polls.WithLabelValues(result)
	}
	return func(result string) { polls.WithLabelValues(result).Inc() }
}
