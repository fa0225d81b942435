package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// metrics are what /metrics shows. Labels have few values: routes of the catalogue,
// never an id.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	decisions   *prometheus.CounterVec
	evaluations *prometheus.HistogramVec
	reused      *prometheus.CounterVec
	failures    *prometheus.CounterVec
	reloads     *prometheus.CounterVec
	policy      *prometheus.GaugeVec
	deliveries  *prometheus.CounterVec
	kinds       requestKinds
	limited     *prometheus.CounterVec
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
		reused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_policy_reused_total", Help: "Verdicts given again for an equal question, without an evaluation, by entry point.",
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
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_outbox_deliveries_total", Help: "Attempts to deliver a message, by outcome.",
		}, []string{"outcome"}),
		limited: newLimited(),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.decisions, m.evaluations, m.reused, m.failures, m.reloads, m.policy, m.deliveries, m.limited,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.reloads.WithLabelValues("taken")
	m.reloads.WithLabelValues("refused")
	return m
}

// handler serves the metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// evaluated counts one evaluation.
func (m *metrics) evaluated(entry string, took time.Duration, failure engine.Failure) {
	m.evaluations.WithLabelValues(entry).Observe(took.Seconds())
	if failure != "" {
		m.failures.WithLabelValues(entry, string(failure)).Inc()
	}
}

// remembered counts one verdict that was given again.
func (m *metrics) remembered(entry string) { m.reused.WithLabelValues(entry).Inc() }

// delivered counts one attempt to deliver a message.
func (m *metrics) delivered(o outbox.Outcome) { m.deliveries.WithLabelValues(o.Result).Inc() }

// watchCache counts what becomes of looks into the cache that replicas share; a value that
// was forged is told the operator too.
func (m *metrics) watchCache(log *slog.Logger) (observe func(result string)) {
	looks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portcullis_shared_cache_total",
		Help: "Looks into the shared cache, by result; forged is a value that no gateway with this master key made there.",
	}, []string{"result"})
	m.registry.MustRegister(looks)
	for _, result := range []string{rolecache.RemoteHit, rolecache.RemoteMiss, rolecache.RemoteForged, rolecache.RemoteDown} {
		looks.WithLabelValues(result)
	}
	return func(result string) {
		looks.WithLabelValues(result).Inc()
		if result == rolecache.RemoteForged {
			log.Error("the shared cache holds a value that no gateway with this master key made; it was not used")
		}
	}
}

// watchLog counts the lines that nobody could read.
func (m *metrics) watchLog(q *lineQueue) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "portcullis_log_lines_dropped_total", Help: "Lines of the log that were dropped, since its reader was too slow, stuck or gone.",
	}, func() float64 { return float64(q.dropped.Load()) }))
}

// outboxTimeout bounds counting the outbox for one scrape.
const outboxTimeout = 2 * time.Second

// watchOutbox shows how much is in the outbox; -1 where it can't be counted.
func (m *metrics) watchOutbox(w *outbox.Worker) {
	gauge := func(name, help string, value func(outbox.Stats) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), outboxTimeout)
			defer cancel()
			stats, err := w.Stats(ctx)
			if err != nil {
				return -1
			}
			return value(stats)
		}))
	}
	gauge("portcullis_outbox_pending", "Messages that wait for a delivery.", func(s outbox.Stats) float64 { return float64(s.Pending) })
	gauge("portcullis_outbox_dead", "Messages that were given up.", func(s outbox.Stats) float64 { return float64(s.Dead) })
	gauge("portcullis_outbox_oldest_seconds", "Age of the oldest message that waits.", func(s outbox.Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return time.Since(s.Oldest).Seconds()
	})
}

// inForce shows the revision that decides.
func (m *metrics) inForce(revision string) {
	m.policy.Reset()
	m.policy.WithLabelValues(revision).Set(1)
}
