package observe

// WatchBundle returns a function that counts a poll of the policy bundle by its result, one of these.
func (m *Metrics) WatchBundle(results ...string) (observe func(result string)) {
	polls := m.preset("portcullis_policy_bundle_polls_total", "Polls of --policy-bundle, by result.", "result", results...)
	return func(result string) { polls.WithLabelValues(result).Inc() }
}
