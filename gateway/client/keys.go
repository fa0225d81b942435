package client

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// maxKeySet bounds a key set in bytes.
	maxKeySet = 1 << 20
	// keysAge is how long keys are used before the next fetch, and keysEnd how long while it is under way or fails. A key
	// removed by the gateway is refused after keysEnd at the latest.
	keysAge = 10 * time.Minute
	keysEnd = time.Hour
	// keysGap is the least time between two fetches: anybody can send the id of an unknown key.
	keysGap = 5 * time.Second
)

// keySet holds the gateway's public keys.
type keySet struct {
	url     string
	timeout time.Duration
	http    *http.Client
	now     func() time.Time
	// turn has one element while keys are fetched.
	turn chan struct{}

	mu             sync.Mutex
	keys           map[string]ed25519.PublicKey
	fetched, tried time.Time
}

// find returns the key with that id, nil if the gateway does not have it. ErrKeys means a failed fetch without usable
// keys.
func (s *keySet) find(ctx context.Context, id string) (ed25519.PublicKey, error) {
	if key, ok := s.cached(id); ok {
		return key, nil
	}
	select { // requests that wait share one fetch
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrKeys, ctx.Err())
	}
	if key, ok := s.cached(id); ok {
		return key, nil
	}
	err := errTried
	if s.due() {
		err = s.refresh(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && (s.keys[id] == nil || s.now().Sub(s.fetched) > keysEnd) {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return s.keys[id], nil
}

// due reports whether the last fetch is long enough ago, and notes another one.
func (s *keySet) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.tried.IsZero() && now.Sub(s.tried) < keysGap {
		return false
	}
	s.tried = now
	return true
}

func (s *keySet) refresh(ctx context.Context) error {
	keys, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = s.now() // a fetch may take as long as the gap
	if err != nil {
		return err
	}
	s.keys, s.fetched = keys, s.tried
	return nil
}

// cached returns the key; false is that the keys have to be fetched first. A known key does not wait for another request's
// fetch of a moment ago. A key is unknown only to the keys of the last fetch.
func (s *keySet) cached(id string) (ed25519.PublicKey, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	age, tried := now.Sub(s.fetched), now.Sub(s.tried) < keysGap
	if key := s.keys[id]; key != nil {
		return key, age <= keysAge || tried && age <= keysEnd
	}
	return nil, s.keys != nil && age <= keysAge && tried && !s.fetched.Before(s.tried)
}

// fetch gets the gateway's keys, by their ids. It leaves out those of another kind than Ed25519. A set without any is an error.
// It does not end with the request that needs the keys: others wait for them, and the next fetch is keysGap away.
func (s *keySet) fetch(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the gateway answers %s", resp.Status)
	}
	var set struct {
		Keys []struct {
			ID    string `json:"kid"`
			Type  string `json:"kty"`
			Curve string `json:"crv"`
			X     string `json:"x"`
		} `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeySet)).Decode(&set); err != nil {
		return nil, err
	}
	keys := map[string]ed25519.PublicKey{}
	for _, k := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err == nil && k.ID != "" && k.Type == "OKP" && k.Curve == "Ed25519" && len(x) == ed25519.PublicKeySize {
			keys[k.ID] = x
		}
	}
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}
