package config

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	defaultLease = 200 * time.Millisecond
	// longestLease bounds the time for which a change waits before it is answered.
	longestLease = 10 * time.Second
	// defaultChangeRetention is a year and a month more.
	defaultChangeRetention = 400 * 24 * time.Hour
)

// Store names the data, the master key and the replicas' shared cache.
type Store struct {
	// DataDir has the embedded store, the master key and, without a mail server, the mail.
	DataDir string
	// MasterKeyFile is "" for the one in DataDir.
	MasterKeyFile string
	// MongoURL is "" for the embedded store.
	MongoURL string
	// RedisURL is "" for no shared cache.
	RedisURL string
	// Lease is for how long a read of the database's epoch is used; 0 reads it for each
	// request.
	Lease time.Duration
	// ChangeRetention is how long change records are kept; 0 is for ever.
	ChangeRetention time.Duration
}

func (s *Store) flags(f *pflag.FlagSet) {
	f.StringVar(&s.DataDir, "data-dir", "./data", "the `folder` of the embedded store and the master key; one process at a time")
	f.StringVar(&s.MasterKeyFile, "master-key-file", "", "the `file` of the master key, which only its owner can read: 32 random bytes or more in base64, one key a line; "+
		"the first is in use, the others are still accepted (default: master.key in the data folder, made at the first start)")
	f.StringVar(&s.MongoURL, "mongo-url", "", "the `URL` of a MongoDB replica set (4.4 or later), in place of the embedded store: mongodb://…/database?replicaSet=name; needs --master-key-file")
	f.StringVar(&s.RedisURL, "redis-url", "", "with --mongo-url: the `URL` of a Redis cache that replicas share: redis://user:password@host:port/db or rediss://…")
	DurationVar(f, &s.Lease, "freshness-lease", defaultLease, "with --mongo-url: for how long a read of the store's epoch is used; 0 reads it for each request")
	DurationVar(f, &s.ChangeRetention, "change-retention", defaultChangeRetention, "how long change records are kept; 0 is for ever")
}

// Engine returns the name of the engine.
func (s Store) Engine() string {
	if s.MongoURL != "" {
		return "mongodb"
	}
	return "sqlite"
}

// Validate returns what is wrong with the store's settings.
func (s Store) Validate() (problems []resources.Problem) {
	if s.MongoURL != "" && s.MasterKeyFile == "" {
		problems = append(problems, problem("--mongo-url", "needs --master-key-file: all replicas share one key, and none is made beside a database"))
	}
	if s.RedisURL != "" && s.MongoURL == "" {
		problems = append(problems, problem("--redis-url", "is for replicas on one --mongo-url; leave it out: the embedded store needs no cache beside it"))
	}
	if s.Lease < 0 || s.Lease > longestLease {
		problems = append(problems, problem("--freshness-lease", "must be from 0 to %s, not %s: a change waits for it before it is answered", longestLease, s.Lease))
	}
	if s.ChangeRetention < 0 {
		problems = append(problems, problem("--change-retention", "must be 0 or more, not %s", s.ChangeRetention))
	}
	return problems
}
