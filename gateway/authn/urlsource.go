package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Defaults and bounds of a URLSource.
const (
	defaultRefresh = 10 * time.Minute
	defaultMaxAge  = 24 * time.Hour
	fetchTimeout   = 5 * time.Second
	// fetchGap is the least time between two fetches, whatever asks for them.
	fetchGap = 30 * time.Second
)

var (
	errNoKeysYet  = errors.New("the key set could not be fetched yet")
	errKeysTooOld = errors.New("the key set could not be refreshed for longer than its maximum age")
	errURLRefresh = fmt.Errorf("the refresh interval must be at least %s and less than the maximum age", fetchGap)
	errURLForm    = errors.New("the JWKS URL must be https:// with a host, and without a user or a fragment")
	errURLOpen    = errors.New("the JWKS URL is http://: whoever is on the way could replace the keys, and sign in as anybody; " +
		"use https://, or a JWKS file (http:// is for an address of this machine only: localhost, 127.0.0.1, [::1])")
	errFetchFailed = errors.New("the last fetch failed")
)

// URLOptions are the settings of a URLSource. URL is needed.
type URLOptions struct {
	// URL is where the identity provider publishes its JWK set.
	URL string
	// Client makes the requests; nil is one of its own. Its redirect policy is replaced.
	Client *http.Client
	// Refresh is the time between background fetches (0: 10 minutes, at least 30
	// seconds); MaxAge how long keys serve without a successful one (0: 24 hours);
	// Timeout bounds one fetch (0: 5 seconds).
	Refresh, MaxAge, Timeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Ticks makes the ticker of Run and gives its stop; nil is time.NewTicker.
	Ticks func(time.Duration) (<-chan time.Time, func())
	// Log gets what goes wrong, never a key; nil is nowhere.
	Log *slog.Logger
}

// URLSource is a KeySource that keeps the JWK set of a URL.
//
// It holds one set and when it was fetched. What bounds its staleness: Run
// fetches every Refresh; where Run is not running, the first use of a set past
// that age waits for a new one. A set that can't be renewed serves until MaxAge,
// then there are no keys. An unknown key asks for a fetch too; all of these
// together make at most one in 30 seconds, and one at a time.
type URLSource struct {
	options URLOptions
	// shown is the URL for the log, without its query.
	shown string

	mu        sync.Mutex
	set       KeySet
	fetched   time.Time // of set; zero before the first
	attempted time.Time // the last attempt's start; zero before the first
	failure   error     // of the last attempt
	flight    chan struct{}
}

// NewURLSource checks the settings and makes a source. It fetches nothing: a
// provider that is down does not keep the gateway from starting.
func NewURLSource(o URLOptions) (*URLSource, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, errURLForm
	}
	if u.Scheme == "http" && !onThisMachine(u.Hostname()) {
		return nil, errURLOpen
	}
	if o.Refresh == 0 {
		o.Refresh = defaultRefresh
	}
	if o.MaxAge == 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.Refresh < fetchGap || o.MaxAge <= o.Refresh {
		return nil, errURLRefresh
	}
	if o.Timeout <= 0 {
		o.Timeout = fetchTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ticks == nil {
		o.Ticks = func(d time.Duration) (<-chan time.Time, func()) { t := time.NewTicker(d); return t.C, t.Stop }
	}
	o.Log = orDiscard(o.Log)
	o.Client = guarded(o.Client)
	return &URLSource{options: o, shown: u.Scheme + "://" + u.Host + u.EscapedPath()}, nil
}

// onThisMachine says whether nobody else is on the way to the host.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Run fetches the keys now and then every Refresh, until ctx ends.
func (s *URLSource) Run(ctx context.Context) {
	ticks, stop := s.options.Ticks(s.options.Refresh)
	defer stop()
	for {
		// Its failure is logged and kept for Refresh's callers; the next tick tries again.
		_ = s.Refresh(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// Refresh fetches the keys, unless that was tried less than 30 seconds ago, and
// gives the outcome of the last attempt.
func (s *URLSource) Refresh(ctx context.Context) error {
	s.mu.Lock()
	flight := s.begin()
	s.mu.Unlock()
	if err := wait(ctx, flight); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Keys implements KeySource.
func (s *URLSource) Keys(ctx context.Context, missing bool) (KeySet, error) {
	if err := wait(ctx, s.needed(missing)); err != nil {
		return KeySet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fetched.IsZero():
		return KeySet{}, joined(errNoKeysYet, s.failure)
	case s.expired():
		return KeySet{}, joined(errKeysTooOld, s.failure)
	}
	return s.set, nil
}

// needed begins a fetch where one is due, and gives it where the caller has to
// wait for it; nil where not.
func (s *URLSource) needed(missing bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.fetched.IsZero() || s.options.Now().Sub(s.fetched) > s.options.Refresh+fetchGap
	if !missing && !stale {
		return nil
	}
	flight := s.begin()
	if !missing && s.failure != nil && !s.expired() {
		// The provider is down and the old keys still hold: nobody waits for its timeout.
		return nil
	}
	return flight
}

// expired says that the set, if there is one, may not be used. The lock is held.
func (s *URLSource) expired() bool {
	return s.fetched.IsZero() || s.options.Now().Sub(s.fetched) > s.options.MaxAge
}
