package outbox

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Defaults of Config.
const (
	DefaultEvery = time.Second
	// DefaultAttempts gives up after about two days: the first ten attempts take 8 minutes, and
	// later ones are 7.5 minutes apart on average. No invitation is lost when a mail server is
	// down for a weekend.
	DefaultAttempts = 400
	DefaultTimeout  = 30 * time.Second
	// DefaultGrace keeps a stop within the 10 s of a drain: it is used once for the running
	// delivery and once for storing its outcome.
	DefaultGrace = 4 * time.Second
)

const (
	// batch bounds the messages that are delivered at the same time.
	batch = 4
	// margin is the time between the end of a delivery and the end of its lease. Storing the
	// outcome and the difference of clocks must fit in it.
	margin = 30 * time.Second
	// settleTime bounds storing an outcome. It is less than margin.
	settleTime = 20 * time.Second
	// settlePause is the time between two attempts to store an outcome.
	settlePause = 200 * time.Millisecond
)

// Config holds what a Worker works with. Store, Collections, Deliver, Now, Random and Log are
// required.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Deliver     Deliverer
	Now         func() time.Time
	// Random spreads the attempts and names the message of Check.
	Random io.Reader
	Log    *slog.Logger
	// Owner names this process in its leases, for operators.
	Owner string
	// Observe is called with the result of each attempt after its outcome was stored, by several
	// goroutines at a time; nil is none.
	Observe func(result string)

	// Every is how often Run looks for due messages; 0 is DefaultEvery.
	Every time.Duration
	// Attempts is the number of failures after which a message is dead; 0 is DefaultAttempts.
	Attempts int
	// Timeout bounds one delivery; 0 is DefaultTimeout. A lease lasts 30 s longer.
	Timeout time.Duration
	// Grace bounds a running delivery, and storing its outcome, after Run was told to stop; 0 is
	// DefaultGrace.
	Grace time.Duration
}

// Worker is a worker that delivers the messages of the outbox. Any number of workers, in any number of processes, may
// share one store. It is safe for concurrent use.
type Worker struct {
	cfg  Config
	c    store.Collection[resources.Message]
	dice sync.Mutex // guards cfg.Random
}

// New makes a worker. Run delivers.
func New(cfg Config) *Worker {
	if cfg.Every <= 0 {
		cfg.Every = DefaultEvery
	}
	if cfg.Attempts <= 0 {
		cfg.Attempts = DefaultAttempts
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Grace <= 0 {
		cfg.Grace = DefaultGrace
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string) {}
	}
	return &Worker{cfg: cfg, c: cfg.Collections.Outbox}
}

// Run delivers messages until ctx ends. It returns when the running deliveries have ended, within twice
// the grace time. Wait for it before you close the store.
func (w *Worker) Run(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	failing := false
	for {
		taken, err := w.Once(ctx)
		if ctx.Err() != nil {
			return
		}
		// An outage of the store is two lines in the log, however long it is.
		if failed := err != nil; failed != failing {
			failing = failed
			if failed {
				w.cfg.Log.Warn("the outbox can't be read; it will be tried again", "error", err.Error())
			} else {
				w.cfg.Log.Info("the outbox can be read again")
			}
		}
		if taken == batch {
			continue // more messages may be due
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// now returns the time of the clock.
func (w *Worker) now() resources.Time { return resources.At(w.cfg.Now()) }
