package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/bootclock"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/health"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

const (
	// barrierTime is how long a request waits for the store's epoch.
	barrierTime = 250 * time.Millisecond
	// spareReaders are snapshots of the embedded store beside those of the gates work and views.
	spareReaders = 6
)

// openedStore is one of the two engines.
type openedStore interface {
	store.Store
	// Bytes returns what the store takes on disk.
	Bytes(ctx context.Context) (int64, error)
}

// openStore opens the embedded store of the data folder, or the database, whose commands the tracer follows; it may be nil.
func openStore(ctx context.Context, s config.Store, c records.Collections, tracer *tracing.Tracer) (openedStore, error) {
	if s.MongoURL == "" {
		opened, err := sqlite.Open(ctx, sqlite.Options{Dir: s.DataDir, Schemas: c.Schemas(), Readers: 2*processors() + spareReaders})
		if err != nil {
			return nil, dataFolderError(s.DataDir, err)
		}
		return opened, nil
	}
	opened, err := mongodb.Open(ctx, mongodb.Options{URL: s.MongoURL, Schemas: c.Schemas(), Monitor: tracer.Commands()})
	if err != nil {
		return nil, fmt.Errorf("--mongo-url: %w", err)
	}
	return opened, nil
}

// inspectStore is openStore for a command that changes nothing: in a database it makes nothing.
func inspectStore(ctx context.Context, s config.Store, c records.Collections) (openedStore, error) {
	if s.MongoURL == "" {
		return openStore(ctx, s, c, nil)
	}
	opened, err := mongodb.Open(ctx, mongodb.Options{URL: s.MongoURL, Schemas: c.Schemas(), Maintenance: true, Inspect: true})
	if err != nil {
		return nil, fmt.Errorf("--mongo-url: %w", err)
	}
	return opened, nil
}

// dataFolderError adds the remedy.
func dataFolderError(dir string, err error) error {
	if errors.Is(err, sqlite.ErrInUse) {
		return &inUseError{dir}
	}
	if errors.Is(err, sqlite.ErrCorrupt) {
		return fmt.Errorf("the data folder %s can't be opened: %w; move it away, and bring a backup into a new one with `portcullis store restore`", dir, err)
	}
	return fmt.Errorf("the data folder %s can't be opened: %w", dir, err)
}

// butOnAFullDisk returns a check that passes while the disk of the data folder takes no writes: a full
// disk stops changes, and not decisions.
func butOnAFullDisk(opened store.Store, check health.Check) health.Check {
	return func(ctx context.Context) error {
		err := check(ctx)
		if embedded, ok := opened.(*sqlite.Store); ok && embedded.Condition() == (sqlite.Condition{ReadOnly: true}) {
			return nil
		}
		return err
	}
}

// watchFolder logs what happens to the data folder of the embedded store.
func watchFolder(opened store.Store, log *slog.Logger) {
	embedded, ok := opened.(*sqlite.Store)
	if !ok {
		return
	}
	embedded.OnChange(func(c sqlite.Condition) {
		switch {
		case c.Lost != nil:
			log.Error("changes are refused until a restart", "error", c.Lost.Error())
		case c.ReadOnly:
			log.Warn("the disk takes no writes: decisions go on, changes are refused")
		default:
			log.Info("the disk takes writes again")
		}
	})
}

// inUseError is sqlite.ErrInUse with the remedy.
type inUseError struct{ dir string }

func (e *inUseError) Error() string {
	return fmt.Sprintf("the data folder %s is in use by another process; stop it, "+
		"or ask it over HTTP: POST /api/v1/accounts makes an account, POST /api/v1/accounts/{accountId}/projects a project", e.dir)
}

func (*inUseError) Unwrap() error { return sqlite.ErrInUse }

// newCache makes the cache of facts. To ask the embedded store for its epoch costs nothing;
// a database is asked over the network, and its answer is used for the lease.
func (a *app) newCache() (*rolecache.Cache, error) {
	s := a.settings.Store
	options := rolecache.Options{Entries: a.settings.Caches.Facts, Local: s.MongoURL == "", Reads: a.gates.reads}
	if s.MongoURL != "" {
		options.Within, options.Lease, options.Clock = barrierTime, s.Lease, bootclock.New()
	}
	if s.RedisURL != "" {
		driver.SetLogger(observe.RedisLog{Log: a.log.Logger}) // else it writes lines of its own form to standard error
		client, err := redis.NewClient(s.RedisURL)
		if err != nil {
			return nil, fmt.Errorf("--redis-url: %w", err)
		}
		shared := client.Cache(redisChanged(a.log.Logger,
			"the shared cache answers again", "the shared cache does not answer; what it holds is read from the store"),
			redisChanged(a.log.Logger, "the shared cache takes values again",
				"the shared cache takes no values, and stays empty; the server at --redis-url may be full or a replica, or its user lacks +set"))
		options.Remote, options.Secrets = a.tracing.Remote(shared), a.master.Derive(resources.PurposeCache)
		a.state.breaker = shared.Breaker
		options.Observe = a.metrics.WatchCache(a.log.Logger)
	}
	return rolecache.New(a.ungated, a.collections, options), nil
}

// redisChanged returns a function that logs whether Redis answers.
func redisChanged(log *slog.Logger, answers, fails string) func(cause error) {
	return func(cause error) {
		if cause == nil {
			log.Info(answers)
			return
		}
		log.Warn(fails, "error", cause.Error())
	}
}

// warnWithoutAccounts warns of a store without accounts: it may be a new one in place of the intended one. A process
// behind gateways knows no accounts.
func (a *app) warnWithoutAccounts(ctx context.Context) error {
	if a.settings.Areas.BehindGateways() {
		return nil
	}
	return a.store.View(ctx, func(tx store.Tx) error {
		some, err := a.collections.Accounts.Find(ctx, tx, store.Query{Index: records.ByCreated, Limit: 1})
		if err == nil && len(some) == 0 {
			a.log.Warn("the store has no account: `portcullis bootstrap` makes the first one; if there were accounts, this is another data folder or database, or an empty one")
		}
		return err
	})
}

// tried is a store with transactions that drop the verdicts of undone tries (verdict.Tried).
type tried struct{ store.Store }

// View implements store.Store.
func (s tried) View(ctx context.Context, fn func(store.Tx) error) error {
	return verdict.Tried(ctx, s.Store.View, fn)
}

// Transact implements store.Store.
func (s tried) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return verdict.Tried(ctx, s.Store.Transact, fn)
}
