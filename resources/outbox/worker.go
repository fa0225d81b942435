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
	// DefaultAttempts is about two days: some 8 minutes for the first ten attempts, and 7.5
	// minutes on average between any two later ones. A mail server that is away for a
	// weekend costs no invitation.
	DefaultAttempts = 400
	DefaultTimeout  = 30 * time.Second
	// DefaultGrace keeps a stop within the 10 s of a drain: once for the delivery under
	// way, once for writing down what became of it.
	DefaultGrace = 4 * time.Second
)

const (
	// batch is how many messages are delivered at the same time.
	batch = 4
	// margin is between the end of a delivery and the end of its lease: room for writing
	// down the outcome and for clocks that differ.
	margin = 30 * time.Second
	// settleTime bounds writing down an outcome; it is less than margin.
	settleTime = 20 * time.Second
	// settlePause is between two attempts to write down an outcome.
	settlePause = 200 * time.Millisecond
)

// Config is what a Worker works with.
type Config struct {
	// Store, Collections, Deliver, Now, Random and Log are needed.
	Store       store.Store
	Collections records.Collections
	Deliver     Deliverer
	Now         func() time.Time
	// Random spreads the attempts and names the probe of Check.
	Random io.Reader
	Log    *slog.Logger
	// Owner names this process in its leases, for whoever reads the store.
	Owner string
	// Observe is told of each attempt when its outcome was written down; nil is nobody.
	// It may be called by several goroutines at a time.
	Observe func(Outcome)

	// Every is how often Run looks for due messages; 0 is DefaultEvery.
	Every time.Duration
	// Attempts is after how many failures a message is dead; 0 is DefaultAttempts.
	Attempts int
	// Timeout bounds one delivery; 0 is DefaultTimeout. A lease lasts 30 s longer.
	Timeout time.Duration
	// Grace is what a delivery under way may still take when Run is to stop; 0 is
	// DefaultGrace.
	Grace time.Duration
}

// Worker delivers what is in the outbox. Any number of them, in any number of
// processes, may work on one store. It is safe for concurrent use.
type Worker struct {
	cfg  Config
	c    store.Collection[resources.Message]
	wake chan struct{}
	dice sync.Mutex // guards cfg.Random
}

// New makes a worker; Run delivers.
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
		cfg.Observe = func(Outcome) {}
	}
	return &Worker{cfg: cfg, c: cfg.Collections.Outbox, wake: make(chan struct{}, 1)}
}

// Wake makes Run look for due messages now: to be called after the commit that stored
// one. It does not wait, and nothing is lost without it but a second.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default: // Run is about to look anyway
	}
}

// Run delivers until ctx ends, and returns when the deliveries under way are done, at
// the latest after twice the grace time. It is to be waited for before the store is closed.
func (w *Worker) Run(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	failing := false
	for {
		taken, err := w.Once(ctx)
		if ctx.Err() != nil {
			return
		}
		// A store that is away for an hour is two lines in the log, not 3,600.
		if failed := err != nil; failed != failing {
			failing = failed
			if failed {
				w.cfg.Log.Warn("the outbox can't be read; it will be tried again", "error", err.Error())
			} else {
				w.cfg.Log.Info("the outbox can be read again")
			}
		}
		if taken == batch {
			continue // there may be more
		}
		select {
		case <-tick.C:
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Worker) now() resources.Time { return resources.At(w.cfg.Now()) }
