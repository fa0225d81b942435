package observe

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// Metrics holds what /metrics shows. Labels have few values: routes of the catalogue, never
// an id.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	decisions   decisionCounters
	evaluations *prometheus.HistogramVec
	reused      *prometheus.CounterVec
	byEntry     map[string]entryMetrics
	failures    *prometheus.CounterVec
	reloads     *prometheus.CounterVec
	policy      *prometheus.GaugeVec
	deliveries  *prometheus.CounterVec
	byLabels    requestCounters
	limited     *prometheus.CounterVec
	// unauthorized are requests with 401, keySets fetches of key sets, writes transactions of the store.
	unauthorized, keySets *prometheus.CounterVec
	writes                prometheus.Histogram
	// certificates is nil without TLS.
	certificates *prometheus.CounterVec
}

// entryMetrics are those of one of engine.CountedEntries. They are found once: a request has two verdicts.
type entryMetrics struct {
	evaluations prometheus.Observer
	reused      prometheus.Counter
}

// NewMetrics returns metrics that nothing was counted in.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), byEntry: map[string]entryMetrics{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_requests_total", Help: "Requests answered, by route of the catalogue and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portcullis_request_duration_seconds", Help: "Time to answer a request, by route.",
			Buckets: prometheus.ExponentialBuckets(0.00005, 2.5, 14),
		}, []string{"route"}),
		decisions: newDecisions(),
		evaluations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portcullis_policy_evaluation_duration_seconds", Help: "Time of one evaluation of the policy, by entry point.",
			Buckets: prometheus.ExponentialBuckets(0.00001, 2.5, 12),
		}, []string{"entry"}),
		reused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_policy_cache_hits_total", Help: "Verdicts that came from the cache, without an evaluation, by entry point.",
		}, []string{"entry"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_policy_failures_total", Help: "Evaluations that gave no decision and therefore denied, by entry point and kind.",
		}, []string{"entry", "kind"}),
		policy: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "portcullis_policy_info", Help: "1 for the policy revision in force.",
		}, []string{"revision"}),
		writes: newWrites(),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.decisions.vec, m.evaluations, m.reused, m.failures, m.policy, m.writes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.reloads = m.preset("portcullis_policy_reloads_total", "Changed policy trees, by whether they were taken into use or refused.", "result", reloadTaken, reloadRefused)
	m.deliveries = m.preset("portcullis_outbox_deliveries_total", "Attempts to deliver a message, by outcome.",
		"outcome", outbox.ResultDelivered, outbox.ResultFailed, outbox.ResultDead)
	m.limited = m.preset("portcullis_rate_limited_total", "Requests that were refused with 429, by the rate that refused them.",
		"limit", gateway.LimitPrincipal, gateway.LimitService, gateway.LimitAccount, gateway.LimitFailures)
	m.unauthorized = m.preset("portcullis_unauthorized_total", "Requests that were refused with 401, by the reason, which the client is not told.", "reason", authn.Reasons()...)
	m.keySets = m.preset("portcullis_jwks_fetches_total", "Fetches of the key sets of issuers, by whether the keys were taken into use.",
		"result", reloadTaken, reloadRefused)
	m.enumerate()
	return m
}

// preset registers counters by one label, with the values that it shows from the start.
func (m *Metrics) preset(name, help, label string, values ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	m.registry.MustRegister(vec)
	for _, value := range values {
		vec.WithLabelValues(value)
	}
	return vec
}

// Handler serves the metrics in the format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// PolicyEvaluated counts one evaluation.
func (m *Metrics) PolicyEvaluated(entry string, took time.Duration, failure engine.Failure) {
	m.byEntry[entry].evaluations.Observe(took.Seconds())
	if failure != "" {
		m.failures.WithLabelValues(entry, string(failure)).Inc()
	}
}

// VerdictReused counts one verdict that came from the cache.
func (m *Metrics) VerdictReused(entry string) { m.byEntry[entry].reused.Inc() }

// Delivered counts one attempt to deliver a message.
func (m *Metrics) Delivered(result string) { m.deliveries.WithLabelValues(result).Inc() }

// WatchCache returns a function that counts a lookup in the shared cache by its result, and
// logs a forged value.
func (m *Metrics) WatchCache(log *slog.Logger) (observe func(result string)) {
	lookups := m.preset("portcullis_shared_cache_lookups_total", "Lookups in the shared cache, by result; forged is a value that no gateway with this master key wrote.",
		"result", rolecache.RemoteHit, rolecache.RemoteMiss, rolecache.RemoteForged, rolecache.RemoteDown)
	return func(result string) {
		lookups.WithLabelValues(result).Inc()
		if result == rolecache.RemoteForged {
			log.Error("the shared cache holds a value that no gateway with this master key wrote; it was not used")
		}
	}
}

// WatchLog shows how many lines of the log were dropped.
func (m *Metrics) WatchLog(l *Log) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "portcullis_log_lines_dropped_total", Help: "Lines of the log that were dropped because its reader was too slow, stuck or gone.",
	}, func() float64 { return float64(l.queue.dropped.Load()) }))
}

// The values of the label result of portcullis_policy_reloads_total and portcullis_tls_reloads_total.
const (
	reloadTaken   = "taken"
	reloadRefused = "refused"
)

// PolicyReloaded counts a changed policy tree.
func (m *Metrics) PolicyReloaded(taken bool) { m.reloads.WithLabelValues(reloadResult(taken)).Inc() }

func reloadResult(taken bool) string {
	if taken {
		return reloadTaken
	}
	return reloadRefused
}

// PolicyInForce shows the revision that decides.
func (m *Metrics) PolicyInForce(revision string) {
	m.policy.Reset()
	m.policy.WithLabelValues(revision).Set(1)
}
