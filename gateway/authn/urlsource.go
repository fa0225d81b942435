package authn

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Times of a URLSource.
const (
	// refreshEvery is the time between background fetches, maxAge how long keys are used without a successful fetch.
	refreshEvery = 10 * time.Minute
	maxAge       = 24 * time.Hour
	fetchTimeout = 5 * time.Second
	// fetchGap is the least time between the starts of two fetches.
	fetchGap = 30 * time.Second
)

var (
	errNoKeysYet  = errors.New("the key set could not be fetched yet")
	errKeysTooOld = errors.New("the key set is older than its maximum age, and could not be refreshed")
	errURLForm    = errors.New("the JWKS URL must be https:// with a host, and without a user or a fragment")
	errURLOpen    = errors.New("the JWKS URL must not be http://: a machine between could replace the keys and sign in as any user; " +
		"use https://, or a JWKS file (http:// is for an address of this machine only: localhost, 127.0.0.1, [::1])")
	errFetchFailed = errors.New("the last fetch failed")
)

// URLOptions are the settings of a URLSource. URL is required.
type URLOptions struct {
	// URL is the address of the identity provider's JWK set.
	URL string
	// Client sends the requests; nil is a new client. Its redirect policy is replaced.
	Client *http.Client
	// Timeout is how long a fetch may take (0: 5 seconds).
	Timeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Ticks returns the ticker of Run and its stop function; nil is time.NewTicker.
	Ticks func(time.Duration) (<-chan time.Time, func())
	// Log gets failures, never a key. nil discards them.
	Log *slog.Logger
	// Fetched, where there is one, is called after each fetch with its error, when the log has it.
	Fetched func(err error)
}

// URLSource is a KeySource of the JWK set at a URL.
//
// Run fetches the set every 10 minutes. Without Run, the first use of a set past that age waits for a
// new one. A stale set is used for 24 hours; after that there are no keys. An unknown key starts a
// fetch too. Of all of these, at most one fetch starts in 30 seconds, and one runs at a time.
type URLSource struct {
	options URLOptions
	// shown is the URL for the log, without its query.
	shown string

	mu        sync.Mutex
	set       KeySet
	fetched   time.Time     // start of the fetch of set; zero before the first
	attempted time.Time     // start of the last fetch; zero before the first
	failure   error         // of the last fetch
	trouble   string        // the last line about failures, "" after a success
	fetching  chan struct{} // closed at the end of the running fetch; nil without one
}

// NewURLSource checks the settings and returns a source. It fetches nothing, so that the gateway
// starts while the provider is down.
func NewURLSource(o URLOptions) (*URLSource, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, errURLForm
	}
	if u.Scheme == "http" && !resources.IsLoopback(u.Hostname()) {
		return nil, errURLOpen
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

// Run fetches the keys at once and then every 10 minutes, until ctx ends.
func (s *URLSource) Run(ctx context.Context) {
	ticks, stop := s.options.Ticks(refreshEvery)
	defer stop()
	for {
		// A failure is logged by the fetch, and the next tick retries.
		_ = s.Refresh(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// Refresh fetches the keys, unless a fetch was started in the last 30 seconds, and returns the
// error of the last fetch.
func (s *URLSource) Refresh(ctx context.Context) error {
	s.mu.Lock()
	done := s.begin()
	s.mu.Unlock()
	if err := wait(ctx, done); err != nil {
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

// needed starts a fetch if one is due. It returns the fetch that the caller has to wait for, nil
// if there is none.
func (s *URLSource) needed(missing bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.fetched.IsZero() || elapsed(s.fetched, s.options.Now()) > refreshEvery+fetchGap
	if !missing && !stale {
		return nil
	}
	done := s.begin()
	if !missing && s.failure != nil && !s.expired() {
		// The provider is down and the old keys are still valid: callers do not wait.
		return nil
	}
	return done
}

// expired reports whether there is no set, or only one past maxAge. s.mu is held.
func (s *URLSource) expired() bool {
	return s.fetched.IsZero() || elapsed(s.fetched, s.options.Now()) > maxAge
}
