package rolecache

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/portcullis-authz/portcullis/store/breaker"
)

// ErrRedisURL says what a URL must be, and nothing of what it was: any part of it may be a password.
var ErrRedisURL = errors.New("the URL must be redis://user:password@host:port/db or rediss://… (TLS); " +
	"?addr=host:port for each further node of a cluster (no db), or ?master_name=name and addr=host:port for sentinels, " +
	"with sentinel_username= and sentinel_password= where these ask for them; nothing else")

// What may stand behind the question mark. The driver knows much more; some of it would be
// overruled here, and some of it ends the process.
const (
	queryNode             = "addr"
	queryMaster           = "master_name"
	querySentinelUser     = "sentinel_username"
	querySentinelPassword = "sentinel_password"
)

// NewClient makes a client of the cache's settings, for others who keep things in that
// Redis; it connects when it is asked something. The error is ErrRedisURL.
func NewClient(address string) (redis.UniversalClient, error) {
	options, err := redisOptions(address)
	if err != nil {
		return nil, err
	}
	return redis.NewUniversalClient(options), nil
}

// redisOptions reads a URL. User and password are the Redis servers' in each of the forms,
// whatever stands before their addresses.
func redisOptions(address string) (*redis.UniversalOptions, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "redis" && u.Scheme != "rediss") {
		return nil, ErrRedisURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || !knownQuery(query) {
		return nil, ErrRedisURL
	}
	u.RawQuery = ""
	one, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, ErrRedisURL
	}
	o := settings()
	o.Addrs, o.Username, o.Password, o.DB = append([]string{one.Addr}, query[queryNode]...), one.Username, one.Password, one.DB
	o.MasterName = query.Get(queryMaster)
	o.SentinelUsername, o.SentinelPassword = query.Get(querySentinelUser), query.Get(querySentinelPassword)
	o.IsClusterMode = o.MasterName == "" && query.Has(queryNode)
	if o.IsClusterMode && o.DB != 0 {
		return nil, ErrRedisURL
	}
	if u.Scheme == "rediss" {
		// No name of a server: each is held to the name under which it is called, and nodes
		// that sentinels or a cluster tell of have names of their own.
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o, nil
}

// settings are those of every form. A look is bounded by its context as a whole; nothing is
// tried twice, since what is not there at once is read from the store.
func settings() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		ContextTimeoutEnabled: true,
		DialTimeout:           breaker.Time, ReadTimeout: breaker.Time, WriteTimeout: breaker.Time, PoolTimeout: breaker.Time,
		MaxRetries: -1, DialerRetries: 1,
		PipelinePoolSize: -1, // a pool of its own for pipelines falls back on the other one, which is a second try
		MaxRedirects:     1,  // to where a slot of a cluster has moved
		// A connection is ready after one command: there are 50 ms for all.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// knownQuery says whether all of it is understood, and belongs together.
func knownQuery(query url.Values) bool {
	for name, values := range query {
		switch name {
		case queryNode:
			for _, v := range values {
				if host, port, err := net.SplitHostPort(v); err != nil || host == "" || port == "" {
					return false
				}
			}
		case queryMaster:
			if len(values) != 1 || values[0] == "" {
				return false
			}
		case querySentinelUser, querySentinelPassword:
			if len(values) != 1 || !query.Has(queryMaster) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
