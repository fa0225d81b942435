package authn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
)

// maxRedirects bounds the hops of one fetch.
const maxRedirects = 3

var (
	errRedirect  = fmt.Errorf("the JWKS URL must redirect at most %d times, and only to its own scheme and host", maxRedirects)
	errReadPanic = errors.New("the reader of the key set panicked")
)

// begin returns the channel that ends with the running fetch, and starts a fetch if none runs. It returns nil if the last
// one was started less than 30 seconds ago. The caller holds s.mu.
func (s *URLSource) begin() <-chan struct{} {
	if s.fetching != nil {
		return s.fetching
	}
	now := s.options.Now()
	if !s.attempted.IsZero() && elapsed(s.attempted, now) < fetchGap {
		return nil
	}
	s.attempted = now
	done := make(chan struct{})
	s.fetching = done
	go s.update(done)
	return done
}

// update fetches the set, takes it into use and closes done. It has a timeout of its own and no
// caller's context, since other callers still need the keys when the first one leaves.
func (s *URLSource) update(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	set, err := s.fetch(ctx)

	s.mu.Lock()
	if err == nil {
		// The set is as old as the request for it.
		s.set, s.fetched = set, s.attempted
	}
	s.failure, s.fetching = err, nil
	report := s.news(err)
	close(done)
	s.mu.Unlock()
	// Without the lock: a blocked log does not block callers.
	report()
	if err == nil {
		reportSet(s.options.Log, set, "url", s.shown)
	}
	if s.options.Fetched != nil {
		s.options.Fetched(err)
	}
}

// news returns a function with the line about a fetch and its error: about the first failure, about one without keys, and
// about the end of the failures. The caller holds s.mu.
func (s *URLSource) news(err error) (report func()) {
	last := s.trouble
	switch {
	case err == nil:
		s.trouble = ""
	case s.expired():
		s.trouble = "JWKS fetch failed: there are no keys, and the issuer's tokens are refused until a fetch succeeds"
	default:
		s.trouble = "JWKS fetch failed; the last good keys stay in use until their maximum age"
	}
	switch now := s.trouble; now {
	case last:
		return func() {}
	case "":
		return func() { s.options.Log.Info("JWKS can be fetched again", "url", s.shown) }
	default:
		return func() { s.options.Log.Warn(now, "url", s.shown, "error", err) }
	}
}

// fetch gets the key set at the URL. Its errors leave the URL out, whose query may be secret.
func (s *URLSource) fetch(ctx context.Context) (set KeySet, err error) {
	defer func() {
		// A panic in this goroutine would end the process.
		if p := recover(); p != nil {
			set, err = KeySet{}, errReadPanic
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.options.URL, http.NoBody)
	if err != nil {
		return KeySet{}, errURLForm
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := s.options.Client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // leaves out the URL, whose query may be secret
		}
		return KeySet{}, fmt.Errorf("%w: %w", errFetchFailed, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return KeySet{}, fmt.Errorf("%w: status %d", errFetchFailed, resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySetSize+1))
	if err != nil {
		return KeySet{}, fmt.Errorf("%w: %w", errFetchFailed, err)
	}
	return readKeySet(raw)
}

// guarded returns a copy of the client that follows redirects only to the URL's scheme and host.
func guarded(c *http.Client) *http.Client {
	out := http.Client{}
	if c != nil {
		out = *c
	}
	out.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0].URL
		if len(via) > maxRedirects || req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
			return errRedirect
		}
		return nil
	}
	return &out
}

// wait waits for a fetch to end. nil means no fetch is running.
func wait(ctx context.Context, done <-chan struct{}) error {
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reportSet logs that a set was taken into use, and its unusable keys.
func reportSet(log *slog.Logger, set KeySet, source, name string) {
	if set.symmetric || set.exposed {
		log.Error("the key set publishes a secret (a symmetric key or a private part), which was not used; replace that key", source, name)
	}
	switch {
	case set.Len() == 0:
		log.Warn("no key of the set can be used: the tokens of its issuer are refused", source, name, "unusable", set.report())
	case len(set.unusable) > 0:
		log.Warn("some keys of the set are not used", source, name, "usable", set.Len(), "unusable", set.report())
	default:
		log.Debug("key set taken into use", source, name, "usable", set.Len())
	}
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
