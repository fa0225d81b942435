package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// metrics are what /metrics shows. Labels have few values: routes of the catalogue,
// never an id.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	decisions   *prometheus.CounterVec
	evaluations *prometheus.HistogramVec
	failures    *prometheus.CounterVec
	reloads     *prometheus.CounterVec
	policy      *prometheus.GaugeVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_requests_total", Help: "Requests answered, by route of the catalogue and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portcullis_request_seconds", Help: "Time to answer a request, by route.",
			Buckets: prometheus.ExponentialBuckets(0.00005, 2.5, 14),
		}, []string{"route"}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_decisions_total", Help: "Decisions of policy that were answered, by route.",
		}, []string{"route", "decision"}),
		evaluations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portcullis_policy_evaluation_seconds", Help: "Time of one evaluation, by entry point.",
			Buckets: prometheus.ExponentialBuckets(0.00001, 2.5, 12),
		}, []string{"entry"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_policy_failures_total", Help: "Evaluations that gave no decision, and so denied, by entry point and kind.",
		}, []string{"entry", "kind"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_policy_reloads_total", Help: "Changed policy trees, by whether they were taken.",
		}, []string{"result"}),
		policy: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "portcullis_policy_info", Help: "The policy revision in force (1).",
		}, []string{"revision"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.decisions, m.evaluations, m.failures, m.reloads, m.policy,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.reloads.WithLabelValues("taken")
	m.reloads.WithLabelValues("refused")
	return m
}

// handler serves the metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// request counts one answered request.
func (m *metrics) request(r gateway.Record) {
	route := r.Route
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(r.Status)).Inc()
	m.seconds.WithLabelValues(route).Observe(r.Duration.Seconds())
	if r.PolicyRevision == "" {
		return
	}
	decision := "deny"
	if r.Allowed {
		decision = "allow"
	}
	m.decisions.WithLabelValues(route, decision).Inc()
}

// evaluated counts one evaluation.
func (m *metrics) evaluated(entry string, took time.Duration, failure engine.Failure) {
	m.evaluations.WithLabelValues(entry).Observe(took.Seconds())
	if failure != "" {
		m.failures.WithLabelValues(entry, string(failure)).Inc()
	}
}

// inForce shows the revision that decides.
func (m *metrics) inForce(revision string) {
	m.policy.Reset()
	m.policy.WithLabelValues(revision).Set(1)
}
