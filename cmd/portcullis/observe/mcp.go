package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
)

// WatchMCP shows the definitions of tools at MCP servers. It returns a function that counts a call by its server and its
// outcome, one of these.
func (m *Metrics) WatchMCP(pins *mcp.Pins, outcomes ...string) (observe func(server, outcome string)) {
	w := &mcpServers{
		pins: pins, outcomes: outcomes,
		changed: prometheus.NewDesc("portcullis_mcp_changed_definitions",
			"Tools of an MCP server with a definition that differs from the reviewed one, by the latest listing.", []string{"server"}, nil),
		listings: prometheus.NewDesc("portcullis_mcp_listings_total", "Listings of the tools of an MCP server, by whether they could be read.", []string{"server", "result"}, nil),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_mcp_calls_total", Help: "Uses of tools, prompts and resources of an MCP server, by outcome.",
		}, []string{"server", "outcome"}),
	}
	m.registry.MustRegister(w)
	return func(server, outcome string) { w.calls.WithLabelValues(server, outcome).Inc() }
}

// mcpServers is a collector of the figures of the MCP servers. Their names come from the policy tree.
type mcpServers struct {
	pins              *mcp.Pins
	outcomes          []string
	changed, listings *prometheus.Desc
	calls             *prometheus.CounterVec
}

// Describe implements prometheus.Collector.
func (w *mcpServers) Describe(target chan<- *prometheus.Desc) {
	target <- w.changed
	target <- w.listings
	w.calls.Describe(target)
}

// Collect implements prometheus.Collector.
func (w *mcpServers) Collect(target chan<- prometheus.Metric) {
	for _, s := range w.pins.Stats() {
		target <- prometheus.MustNewConstMetric(w.changed, prometheus.GaugeValue, float64(s.Changed), s.Server)
		target <- prometheus.MustNewConstMetric(w.listings, prometheus.CounterValue, float64(s.Read), s.Server, "read")
		target <- prometheus.MustNewConstMetric(w.listings, prometheus.CounterValue, float64(s.Failed), s.Server, "failed")
	}
	for _, s := range w.pins.Servers() {
		for _, outcome := range w.outcomes {
			w.calls.WithLabelValues(s.Name, outcome)
		}
	}
	w.calls.Collect(target)
}
