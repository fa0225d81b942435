package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
)

// WatchMCP shows the definitions of tools at MCP servers, whose names come from the policy tree. It returns a function that
// counts a call by its server and its outcome, one of these.
func (m *Metrics) WatchMCP(pins *mcp.Pins, outcomes ...string) (observe func(server, outcome string)) {
	changed := prometheus.NewDesc("portcullis_mcp_changed_definitions",
		"Tools of an MCP server with a definition that differs from the reviewed one, by the latest listing.", []string{"server"}, nil)
	listings := prometheus.NewDesc("portcullis_mcp_listings_total", "Listings of the tools of an MCP server, by whether they could be read.", []string{"server", "result"}, nil)
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portcullis_mcp_calls_total", Help: "Uses of tools, prompts and resources of an MCP server, by outcome.",
	}, []string{"server", "outcome"})
	m.registry.MustRegister(prometheus.CollectorFunc(func(target chan<- prometheus.Metric) {
		for _, s := range pins.Stats() {
			target <- prometheus.MustNewConstMetric(changed, prometheus.GaugeValue, float64(s.Changed), s.Server)
			target <- prometheus.MustNewConstMetric(listings, prometheus.CounterValue, float64(s.Read), s.Server, "read")
			target <- prometheus.MustNewConstMetric(listings, prometheus.CounterValue, float64(s.Failed), s.Server, "failed")
		}
		for _, s := range pins.Servers() {
			for _, outcome := range outcomes {
				calls.WithLabelValues(s.Name, outcome)
			}
		}
		calls.Collect(target)
	}))
	return func(server, outcome string) { calls.WithLabelValues(server, outcome).Inc() }
}
