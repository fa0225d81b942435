package authn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// switched is a source whose keys change on a switch.
type switched struct {
	mu  sync.Mutex
	set authn.KeySet
	err error
	// asked counts how often keys were missing.
	asked int
}

func (s *switched) Keys(_ context.Context, missing bool) (authn.KeySet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if missing {
		s.asked++
	}
	return s.set, s.err
}

func (s *switched) put(set authn.KeySet, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set, s.err = set, err
}

func caching(t testing.TB, c *clock, tokens int, issuers ...authn.Issuer) *authn.Authenticator {
	t.Helper()
	return must.Get(authn.New(authn.Options{Issuers: issuers, Directory: directory(users), Now: c.Now, CachedTokens: tokens}))(t)
}

// TestCachedTokenIsRefusedAtOnceWithoutItsKey guarantees a refusal for each way to lose the key.
func TestCachedTokenIsRefusedAtOnceWithoutItsKey(t *testing.T) {
	good, k := keySet(t, standardKeys()...), testKeys()
	for name, now := range map[string]struct {
		set authn.KeySet
		err error
	}{
		"removed":             {set: keySet(t, standardKeys()[1:]...)},
		"replaced":            {set: keySet(t, jwk("ed", "EdDSA", "sig", k.otherEd.Public()))},
		"under another name":  {set: keySet(t, jwk("other", "EdDSA", "sig", k.ed.Public()))},
		"one of two":          {set: keySet(t, standardKeys()[0], jwk("ed", "EdDSA", "sig", k.otherEd.Public()))},
		"an empty set":        {},
		"no keys to trust":    {err: errors.New("too old")},
		"its name is another": {set: keySet(t, jwk("ed", "ES256", "sig", k.es.Public()))},
	} {
		t.Run(name, func(t *testing.T) {
			source := &switched{set: good}
			a := authenticator(t, newClock(), issuer(source))
			token := edToken(nil)
			mustAccept(t, a, token)
			mustAccept(t, a, token)
			source.put(now.set, now.err)
			mustRefuse(t, a, token)
			if a.Cached(token) != nil {
				t.Error("the token is still cached")
			}
			source.put(good, nil)
			mustAccept(t, a, token)
		})
	}
}

// TestCachedTokenOutlivesARefresh guarantees it for a refresh with the same key again, and for one
// with a second key beside it.
func TestCachedTokenOutlivesARefresh(t *testing.T) {
	source := &switched{set: keySet(t, standardKeys()...)}
	a := authenticator(t, newClock(), issuer(source))
	for _, token := range []string{edToken(nil), rsToken()} {
		for _, keys := range [][]object{standardKeys(), append(standardKeys(), jwk("new", "EdDSA", "sig", testKeys().otherEd.Public()))} {
			mustAccept(t, a, token)
			first := a.Cached(token)
			source.put(keySet(t, keys...), nil)
			mustAccept(t, a, token)
			if first == nil || a.Cached(token) != first {
				t.Error("the token was verified again")
			}
		}
	}
	if source.asked != 0 {
		t.Errorf("the source was asked %d times for a missing key", source.asked)
	}
}

func rsToken() string {
	return forge(object{"alg": "PS256", "kid": "rs"}.json(), claims().json(), "PS256", testKeys().rs)
}

// TestCachedTokenExpiresToTheSecond, with the leeway of 30 seconds.
func TestCachedTokenExpiresToTheSecond(t *testing.T) {
	c := newClock()
	a := authenticator(t, c, issuer(keySet(t, standardKeys()...)))
	token := edToken(object{"exp": start.Add(time.Minute).Unix()})
	mustAccept(t, a, token)
	first := a.Cached(token)
	c.Advance(90*time.Second - time.Nanosecond)
	mustAccept(t, a, token)
	if first == nil || a.Cached(token) != first {
		t.Error("the token was verified again within the leeway")
	}
	c.Advance(time.Nanosecond)
	mustRefuse(t, a, token)
	if a.Cached(token) != nil {
		t.Error("an expired token is cached")
	}
}

// TestCachedTokenIsRefusedBeforeItsTime, after the clock was set back.
func TestCachedTokenIsRefusedBeforeItsTime(t *testing.T) {
	for _, claim := range []string{"nbf", "iat"} {
		c := newClock()
		a := authenticator(t, c, issuer(keySet(t, standardKeys()...)))
		token := edToken(object{claim: start.Unix()})
		mustAccept(t, a, token)
		first := a.Cached(token)
		c.Advance(-30 * time.Second)
		mustAccept(t, a, token)
		if first == nil || a.Cached(token) != first {
			t.Error("the token was verified again within the leeway")
		}
		c.Advance(-time.Nanosecond)
		mustRefuse(t, a, token)
		c.Advance(time.Second)
		mustAccept(t, a, token)
	}
}

// TestAlteredTokenIsNotTheCachedOne, whichever byte is altered, cut or added.
func TestAlteredTokenIsNotTheCachedOne(t *testing.T) {
	a := standard(t)
	token := edToken(nil)
	mustAccept(t, a, token)
	for i := range len(token) {
		for _, bit := range []byte{1, 2, 0x20} {
			altered := []byte(token)
			altered[i] ^= bit
			mustRefuse(t, a, string(altered))
			if a.Cached(string(altered)) != nil {
				t.Fatal("a refused token is cached")
			}
		}
		mustRefuse(t, a, "."+token[:i])
		mustRefuse(t, a, token[:i]+"A"+token[i:])
	}
	mustAccept(t, a, token)
}

// TestTokenIsCachedForItsIssuerAlone: a gateway that trusts another key, audience or issuer
// refuses the same bytes.
func TestTokenIsCachedForItsIssuerAlone(t *testing.T) {
	set := keySet(t, standardKeys()...)
	first, second := issuer(set), issuer(set)
	second.Issuer = "https://second.test"
	a := authenticator(t, newClock(), first, second)
	token := edToken(nil)
	mustAccept(t, a, token)
	ofSecond := edToken(object{"iss": second.Issuer})
	mustAccept(t, a, ofSecond)
	mustAccept(t, a, token)
	if a.Cached(token) == nil || a.Cached(ofSecond) == nil || a.Cached(token) == a.Cached(ofSecond) {
		t.Error("the two tokens are not cached apart")
	}
	otherAudience, otherKey := first, first
	otherAudience.Audience = "another"
	otherKey.Keys = keySet(t, jwk("ed", "EdDSA", "sig", testKeys().otherEd.Public()))
	for _, settings := range []authn.Issuer{second, otherAudience, otherKey} {
		mustRefuse(t, authenticator(t, newClock(), settings), token)
	}
}

// TestSubjectOfACachedTokenIsLookedUpEachTime: the user is suspended, deleted or moved to
// another account while the token is cached.
func TestSubjectOfACachedTokenIsLookedUpEachTime(t *testing.T) {
	identity, ok := resources.Identity{ID: "user-alice-v1", AccountID: "acct-1-v1", Status: resources.StatusActive}, true
	a := must.Get(authn.New(authn.Options{
		Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Now: newClock().Now,
		Directory: directory(func(context.Context, string, bool, bool) (resources.Identity, bool, error) {
			return identity, ok, nil
		}),
	}))(t)
	token := edToken(nil)
	mustAccept(t, a, token)
	identity.AccountID = "acct-2-v1"
	if p := mustAccept(t, a, token); p.AccountID != "acct-2-v1" {
		t.Errorf("still a member of %s", p.AccountID)
	}
	identity.Status = resources.StatusSuspended
	mustRefuse(t, a, token)
	identity.Status, ok = resources.StatusActive, false
	mustRefuse(t, a, token)
	ok = true
	mustAccept(t, a, token)
}

// TestTokenCacheIsBounded by the number of tokens and by the length of their claims; a token in
// use stays.
func TestTokenCacheIsBounded(t *testing.T) {
	const room = 16
	a := caching(t, newClock(), room, issuer(keySet(t, standardKeys()...)))
	used := edToken(nil)
	mustAccept(t, a, used)
	first := a.Cached(used)
	if first == nil {
		t.Fatal("an accepted token is not cached")
	}
	tokens := []string{used}
	for i := range 10 * room {
		good, bad := edToken(object{"jti": fmt.Sprint(i)}), edToken(object{"jti": fmt.Sprint(i), "aud": "another"})
		mustAccept(t, a, good)
		mustRefuse(t, a, bad)
		if a.Cached(bad) != nil {
			t.Fatal("a refused token is cached")
		}
		mustAccept(t, a, used)
		if a.Cached(used) != first {
			t.Fatalf("round %d: a token in use was evicted", i)
		}
		tokens = append(tokens, good)
	}
	tokens = slices.DeleteFunc(tokens, func(token string) bool { return a.Cached(token) == nil })
	if len(tokens) > room || len(tokens) < room/2 {
		t.Errorf("%d tokens are cached, in a cache for %d", len(tokens), room)
	}
	long := edToken(object{"scope": strings.Repeat("a ", 2000)})
	mustAccept(t, a, long)
	mustAccept(t, a, long)
	if a.Cached(long) != nil {
		t.Error("a token with long claims is cached")
	}
	off := caching(t, newClock(), -1, issuer(keySet(t, standardKeys()...)))
	mustAccept(t, off, used)
	mustAccept(t, off, used)
	if off.Cached(used) != nil {
		t.Error("a token is cached without a cache")
	}
}

// TestCachedTokensUnderRotation: many callers ask while the key comes and goes. Once its
// removal has returned, every token is refused.
func TestCachedTokensUnderRotation(t *testing.T) {
	good, other := keySet(t, standardKeys()...), keySet(t, standardKeys()[1:]...)
	source := &switched{set: good}
	a := caching(t, newClock(), 4, issuer(source))
	tokens := make([]string, 8)
	for i := range tokens {
		tokens[i] = edToken(object{"jti": fmt.Sprint(i)})
	}
	var gate sync.RWMutex // held for writing while the keys change
	inForce := true
	var callers sync.WaitGroup
	for i := range 4 {
		callers.Go(func() {
			for round := range 200 {
				gate.RLock()
				_, err := a.Verify(t.Context(), tokens[(i+round)%len(tokens)])
				if (err == nil) != inForce {
					t.Errorf("in force %v: %v", inForce, err)
				}
				gate.RUnlock()
			}
		})
	}
	callers.Go(func() {
		for round := range 50 {
			gate.Lock()
			if inForce = round%2 == 1; inForce {
				source.put(good, nil)
			} else {
				source.put(other, nil)
			}
			gate.Unlock()
		}
	})
	callers.Wait()
}
