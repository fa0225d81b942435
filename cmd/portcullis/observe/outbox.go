package observe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/resources/outbox"
)

// outboxTimeout bounds the time in which the outbox is counted for one scrape.
const outboxTimeout = 2 * time.Second

// WatchOutbox shows how many messages are in the outbox, or -1 where the store cannot be
// read.
func (m *Metrics) WatchOutbox(w *outbox.Worker) {
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
	gauge("portcullis_outbox_pending", "Messages that wait for their delivery.", func(s outbox.Stats) float64 { return float64(s.Pending) })
	gauge("portcullis_outbox_dead", "Messages that were given up.", func(s outbox.Stats) float64 { return float64(s.Dead) })
	gauge("portcullis_outbox_oldest_age_seconds", "Age of the oldest message that waits for its delivery.", func(s outbox.Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return time.Since(s.Oldest).Seconds()
	})
}
