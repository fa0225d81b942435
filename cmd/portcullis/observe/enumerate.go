package observe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/store"
)

// enumerate shows with 0 what can happen, so that a first increase is seen as one.
func (m *Metrics) enumerate() {
	for _, entry := range engine.CountedEntries() {
		m.byEntry[entry] = entryMetrics{m.evaluations.WithLabelValues(entry), m.reused.WithLabelValues(entry)}
		for _, kind := range engine.Failures() {
			m.failures.WithLabelValues(entry, string(kind))
		}
	}
}

// KeySetFetched counts a fetch of a key set.
func (m *Metrics) KeySetFetched(err error) { m.keySets.WithLabelValues(reloadResult(err == nil)).Inc() }

func newWrites() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "portcullis_store_write_seconds", Help: "Time of one transaction of the store, with its waits for other writers, its disk and the lease.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 12),
	})
}

// timed is a store whose transactions are timed.
type timed struct {
	store.Store
	writes prometheus.Histogram
}

// Transact implements store.Store.
func (s timed) Transact(ctx context.Context, fn func(store.Tx) error) error {
	began := time.Now()
	defer func() { s.writes.Observe(time.Since(began).Seconds()) }()
	return s.Store.Transact(ctx, fn)
}

// Timed returns the store with its transactions timed.
func (m *Metrics) Timed(s store.Store) store.Store { return timed{s, m.writes} }

// Build shows which version runs.
func (m *Metrics) Build(version, commit, goVersion string) {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "portcullis_build_info", Help: "1 for the version that runs.",
	}, []string{"version", "commit", "go"})
	build.WithLabelValues(version, commit, goVersion).Set(1)
	m.registry.MustRegister(build)
}

// storeTimeout bounds the time in which one scrape reads a figure of the store, or its state.
const storeTimeout = 2 * time.Second

// StoreState is the state of the store, a value of the label state of portcullis_store_state.
type StoreState string

// The states of the store. StoreReadOnly means a full disk, StoreLost a data folder taken away, overwritten or damaged.
const (
	StoreReady       StoreState = "ready"
	StoreReadOnly    StoreState = "read_only"
	StoreUnavailable StoreState = "unavailable"
	StoreLost        StoreState = "lost"
)

// WatchStore shows the state of the store and its size on disk, -1 if the size can't be read.
func (m *Metrics) WatchStore(state func(context.Context) StoreState, bytes func(context.Context) (int64, error)) {
	desc := prometheus.NewDesc("portcullis_store_state", "1 for the state of the store.", []string{"state"}, nil)
	m.registry.MustRegister(prometheus.CollectorFunc(func(target chan<- prometheus.Metric) {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		now := state(ctx)
		for _, one := range []StoreState{StoreReady, StoreReadOnly, StoreUnavailable, StoreLost} {
			value := 0.0
			if one == now {
				value = 1
			}
			target <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, string(one))
		}
	}))
	m.stored("portcullis_store_bytes", "What the store takes on disk, with its indexes and its log.", func(ctx context.Context) (float64, error) {
		n, err := bytes(ctx)
		return float64(n), err
	})
}

// stored shows a figure that each scrape reads from the store, -1 if it can't be read.
func (m *Metrics) stored(name, help string, figure func(context.Context) (float64, error)) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		value, err := figure(ctx)
		if err != nil {
			return -1
		}
		return value
	}))
}
