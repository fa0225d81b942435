package observe

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources/outbox"
)

// WatchOutbox shows how many messages are in the outbox, or -1 where the store cannot be
// read.
func (m *Metrics) WatchOutbox(w *outbox.Worker) {
	gauge := func(name, help string, value func(outbox.Stats) float64) {
		m.stored(name, help, func(ctx context.Context) (float64, error) {
			stats, err := w.Stats(ctx)
			return value(stats), err
		})
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
