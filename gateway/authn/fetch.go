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
	errRedirect  = errors.New("the JWKS URL redirects to another scheme or host, or too often")
	errReadPanic = errors.New("reading the key set panicked")
)

// begin gives the running fetch, or a new one where none was tried in the last
// 30 seconds, else nil. The lock is held.
func (s *URLSource) begin() <-chan struct{} {
	if s.flight != nil {
		return s.flight
	}
	now := s.options.Now()
	if !s.attempted.IsZero() && now.Sub(s.attempted) < fetchGap {
		return nil
	}
	s.attempted = now
	flight := make(chan struct{})
	s.flight = flight
	go s.fly(flight)
	return flight
}

// fly is one fetch. It has a time limit of its own and no caller's context: the
// caller who began it may leave, and the others still want the keys.
func (s *URLSource) fly(flight chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	set, err := s.fetch(ctx)

	s.mu.Lock()
	if err == nil {
		// The set is as old as the moment it was asked for, not the one it came at.
		s.set, s.fetched = set, s.attempted
	}
	s.failure, s.flight = err, nil
	close(flight)
	s.mu.Unlock()
	// A log that blocks must not block who waits for the lock.
	if err != nil {
		s.options.Log.Warn("JWKS fetch failed; the last good keys serve until their maximum age", "url", s.shown, "error", err)
		return
	}
	reportSet(s.options.Log, set, "url", s.shown)
}

func (s *URLSource) fetch(ctx context.Context) (set KeySet, err error) {
	defer func() {
		// Nobody above this goroutine recovers, and a stranger's document must not end the process.
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
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, whose query may be secret
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

// guarded copies the client and binds its redirects to the URL's scheme and host.
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

// wait waits for a fetch to end; nil is none.
func wait(ctx context.Context, flight <-chan struct{}) error {
	if flight == nil {
		return nil
	}
	select {
	case <-flight:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reportSet tells the operator of a set that was taken into use.
func reportSet(log *slog.Logger, set KeySet, source, name string) {
	if set.symmetric || set.exposed {
		log.Error("the key set publishes a secret (a symmetric key or a private part); it was not used, but must be replaced", source, name)
	}
	if len(set.unusable) > 0 || set.Len() == 0 {
		log.Warn("keys of the set are not used", source, name, "usable", set.Len(), "unusable", set.report())
		return
	}
	log.Debug("key set taken into use", source, name, "usable", set.Len())
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
