package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/bootclock"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

const (
	defaultLease = 200 * time.Millisecond
	// longestLease bounds what a change has to wait.
	longestLease = 10 * time.Second
	// barrierTime is how long a request waits for the store's epoch (API contract, 6).
	barrierTime = 250 * time.Millisecond
)

// errNoSharedKey: replicas that each made a key of their own would not know each other's
// API keys and tokens.
var errNoSharedKey = errors.New("--mongo-url needs --master-key-file: all replicas share one key, and none is made beside a database")

// errRedisAlone: the embedded store has one process, which has nobody to share with.
var errRedisAlone = errors.New("--redis-url is for replicas on one --mongo-url; the embedded store needs no cache beside it")

// checkStore refuses settings of a store that can't be meant.
func (s *settings) checkStore() error {
	switch {
	case s.mongoURL != "" && s.masterKeyFile == "":
		return errNoSharedKey
	case s.redisURL != "" && s.mongoURL == "":
		return errRedisAlone
	case s.lease < 0 || s.lease > longestLease:
		return fmt.Errorf("--freshness-lease must be 0 to %s, not %s: a change waits for it before it is answered", longestLease, s.lease)
	}
	return nil
}

// openStore opens the embedded store of the data folder, or the database.
func (s *settings) openStore(ctx context.Context, c records.Collections) (store.Store, error) {
	if s.mongoURL == "" {
		opened, err := sqlite.Open(ctx, sqlite.Options{Dir: s.dataDir, Schemas: c.Schemas()})
		if err != nil {
			return nil, dataFolderError(s.dataDir, err)
		}
		return opened, nil
	}
	opened, err := mongodb.Open(ctx, mongodb.Options{URL: s.mongoURL, Schemas: c.Schemas()})
	if err != nil {
		return nil, fmt.Errorf("--mongo-url: %w", err)
	}
	return opened, nil
}

// newCache keeps facts near the decision. The embedded store says for nothing how far it
// has come; a database is asked over the network, so that answer is used for a time.
func (s *settings) newCache(a *app) (*rolecache.Cache, error) {
	options := rolecache.Options{Entries: s.kept.facts, Local: s.mongoURL == "", Reads: a.gates.reads}
	if s.mongoURL != "" {
		options.Within, options.Lease, options.Clock = barrierTime, s.lease, bootclock.New()
	}
	if s.redisURL != "" {
		driver.SetLogger(observe.RedisLog{Log: a.log.Logger}) // its own writes lines of its own kind beside ours
		client, err := redis.NewClient(s.redisURL)
		if err != nil {
			return nil, fmt.Errorf("--redis-url: %w", err)
		}
		options.Remote, options.Secrets = client.Cache(sharedCacheChanged(a.log.Logger)), a.master.Derive(resources.PurposeCache)
		options.Observe = a.metrics.WatchCache(a.log.Logger)
	}
	return rolecache.New(a.store, a.collections, options), nil
}

// sharedCacheChanged tells the operator when Redis is left alone, and why, and when it
// answers again.
func sharedCacheChanged(log *slog.Logger) func(cause error) {
	return func(cause error) {
		if cause == nil {
			log.Info("the shared cache answers again")
			return
		}
		log.Warn("the shared cache does not answer; what it holds is read from the store", "error", cause.Error())
	}
}

// dataFolderError adds the remedy.
func dataFolderError(dir string, err error) error {
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("the data folder %s is in use by another process; stop it, "+
			"or ask it over HTTP: POST /api/v1/accounts makes an account, POST /api/v1/accounts/{accountId}/projects a project", dir)
	}
	return fmt.Errorf("the data folder %s can't be opened: %w", dir, err)
}
