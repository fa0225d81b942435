package redis

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"

	driver "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ErrURL refuses an unreadable URL. It repeats nothing of the URL, since any part of it may be a password.
var ErrURL = errors.New("the URL must be redis://user:password@host:port/db or rediss://… (TLS); " +
	"?addr=host:port for each further node of a cluster (no db), or ?master_name=name and addr=host:port for sentinels, " +
	"with sentinel_username= and sentinel_password= where these ask for them; nothing else")

// The parameters of a URL. Every other one is refused: the driver has many more, some would overrule these settings,
// and some end the process.
const (
	paramNode             = "addr"
	paramMaster           = "master_name"
	paramSentinelUser     = "sentinel_username"
	paramSentinelPassword = "sentinel_password"
)

// Client is a pool of connections to a Redis server, a cluster, or the master behind sentinels. It is
// safe for concurrent use.
type Client struct {
	driver driver.UniversalClient
}

// NewClient makes a client of the Redis server at that URL; the first call connects. The error is
// ErrURL.
func NewClient(address string) (*Client, error) {
	options, err := readURL(address)
	if err != nil {
		return nil, err
	}
	return &Client{driver.NewUniversalClient(options)}, nil
}

// Close closes the connections.
func (c *Client) Close() error { return c.driver.Close() }

// readURL reads a URL. In each form user and password are those of the Redis servers, also where the
// address before them is a sentinel's.
func readURL(address string) (*driver.UniversalOptions, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "redis" && u.Scheme != "rediss") {
		return nil, ErrURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || !validParams(query) {
		return nil, ErrURL
	}
	u.RawQuery = ""
	one, err := driver.ParseURL(u.String())
	if err != nil {
		return nil, ErrURL
	}
	o := settings()
	o.Addrs, o.Username, o.Password, o.DB = append([]string{one.Addr}, query[paramNode]...), one.Username, one.Password, one.DB
	o.MasterName = query.Get(paramMaster)
	o.SentinelUsername, o.SentinelPassword = query.Get(paramSentinelUser), query.Get(paramSentinelPassword)
	o.IsClusterMode = o.MasterName == "" && query.Has(paramNode)
	if o.IsClusterMode && o.DB != 0 {
		return nil, ErrURL
	}
	if u.Scheme == "rediss" {
		// Without a server name, each server must have a certificate for its own name: cluster nodes and servers behind
		// sentinels have names of their own.
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o, nil
}

// settings returns the options of every form: the context bounds a call as a whole, and nothing is
// tried twice.
func settings() *driver.UniversalOptions {
	return &driver.UniversalOptions{
		ContextTimeoutEnabled: true,
		DialTimeout:           callTime, ReadTimeout: callTime, WriteTimeout: callTime, PoolTimeout: callTime,
		MaxRetries: -1, DialerRetries: 1,
		PipelinePoolSize: -1, // a pool for pipelines falls back on the other one, which is a second try
		MaxRedirects:     1,  // to where a slot of a cluster has moved
		// A connection must be ready after one command: 50 ms have to do for all.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// validParams reports whether each parameter is known, and belongs to the form of the URL.
func validParams(query url.Values) bool {
	for name, values := range query {
		switch name {
		case paramNode:
			for _, v := range values {
				if host, port, err := net.SplitHostPort(v); err != nil || host == "" || port == "" {
					return false
				}
			}
		case paramMaster:
			if len(values) != 1 || values[0] == "" {
				return false
			}
		case paramSentinelUser, paramSentinelPassword:
			if len(values) != 1 || !query.Has(paramMaster) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
