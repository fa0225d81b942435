package authn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// switched is a source whose keys change when told to.
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

func remembering(t testing.TB, c *clock, tokens int, issuers ...authn.Issuer) *authn.Authenticator {
	t.Helper()
	a, err := authn.New(authn.Options{Issuers: issuers, Directory: directory(users), Now: c.Now, Remembered: tokens})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestARememberedTokenIsRefusedAtOnceWithoutItsKey, whatever became of the key.
func TestARememberedTokenIsRefusedAtOnceWithoutItsKey(t *testing.T) {
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
			if n := a.Remembered(); n != 0 {
				t.Errorf("%d tokens are still remembered", n)
			}
			source.put(good, nil)
			mustAccept(t, a, token)
		})
	}
}

// TestARememberedTokenOutlivesARefresh that brings the same key again, and its rotation
// to another one beside it.
func TestARememberedTokenOutlivesARefresh(t *testing.T) {
	source := &switched{set: keySet(t, standardKeys()...)}
	a := authenticator(t, newClock(), issuer(source))
	for _, token := range []string{edToken(nil), rsToken()} {
		mustAccept(t, a, token)
		source.put(keySet(t, append(standardKeys(), jwk("new", "EdDSA", "sig", testKeys().otherEd.Public()))...), nil)
		mustAccept(t, a, token)
	}
	if a.Remembered() != 2 || source.asked != 0 {
		t.Errorf("%d remembered, %d asked for missing keys", a.Remembered(), source.asked)
	}
}

func rsToken() string {
	return forge(object{"alg": "PS256", "kid": "rs"}.json(), claims().json(), "PS256", testKeys().rs)
}

// TestARememberedTokenEndsToTheSecond: with the leeway of 30 seconds, as at the first time.
func TestARememberedTokenEndsToTheSecond(t *testing.T) {
	c := newClock()
	a := authenticator(t, c, issuer(keySet(t, standardKeys()...)))
	token := edToken(object{"exp": start.Add(time.Minute).Unix()})
	first := a.Vouched(token)
	c.Advance(90*time.Second - time.Nanosecond)
	mustAccept(t, a, token)
	if a.Vouched(token) != first {
		t.Error("verified anew within the leeway")
	}
	c.Advance(time.Nanosecond)
	mustRefuse(t, a, token)
	if n := a.Remembered(); n != 0 {
		t.Errorf("%d ended tokens are remembered", n)
	}
}

// TestARememberedTokenIsRefusedBeforeItsTime: a clock that was set back.
func TestARememberedTokenIsRefusedBeforeItsTime(t *testing.T) {
	for _, claim := range []string{"nbf", "iat"} {
		c := newClock()
		a := authenticator(t, c, issuer(keySet(t, standardKeys()...)))
		token := edToken(object{claim: start.Unix()})
		first := a.Vouched(token)
		c.Advance(-30 * time.Second)
		mustAccept(t, a, token)
		if a.Vouched(token) != first {
			t.Error("verified anew within the leeway")
		}
		c.Advance(-time.Nanosecond)
		mustRefuse(t, a, token)
		c.Advance(time.Second)
		mustAccept(t, a, token)
	}
}

// TestAnAlteredTokenIsNotTheRememberedOne, whichever byte is altered, cut or added.
func TestAnAlteredTokenIsNotTheRememberedOne(t *testing.T) {
	a := standard(t)
	token := edToken(nil)
	mustAccept(t, a, token)
	for i := range len(token) {
		for _, bit := range []byte{1, 2, 0x20} {
			altered := []byte(token)
			altered[i] ^= bit
			mustRefuse(t, a, string(altered))
		}
		mustRefuse(t, a, "."+token[:i])
		mustRefuse(t, a, token[:i]+"A"+token[i:])
	}
	mustAccept(t, a, token)
	if n := a.Remembered(); n != 1 {
		t.Errorf("%d tokens are remembered: refused ones too", n)
	}
}

// TestATokenIsRememberedForItsIssuerAlone: the same bytes prove nothing to whoever trusts
// another key, audience or issuer.
func TestATokenIsRememberedForItsIssuerAlone(t *testing.T) {
	set := keySet(t, standardKeys()...)
	first, second := issuer(set), issuer(set)
	second.Issuer = "https://second.test"
	a := authenticator(t, newClock(), first, second)
	token := edToken(nil)
	mustAccept(t, a, token)
	mustAccept(t, a, edToken(object{"iss": second.Issuer}))
	mustAccept(t, a, token)
	if a.Remembered() != 2 {
		t.Errorf("%d remembered", a.Remembered())
	}
	otherAudience, otherKey := first, first
	otherAudience.Audience = "another"
	otherKey.Keys = keySet(t, jwk("ed", "EdDSA", "sig", testKeys().otherEd.Public()))
	for _, settings := range []authn.Issuer{second, otherAudience, otherKey} {
		mustRefuse(t, authenticator(t, newClock(), settings), token)
	}
}

// TestWhoATokenNamesIsAskedEachTime: a user who is suspended, deleted or made another's
// while the token is remembered.
func TestWhoATokenNamesIsAskedEachTime(t *testing.T) {
	identity, found := authn.Identity{ExternalID: "user-alice-v1", AccountID: "acct-1-v1", Status: resources.StatusActive}, true
	a, err := authn.New(authn.Options{
		Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Now: newClock().Now,
		Directory: directory(func(context.Context, string, authn.Subjects) (authn.Identity, bool, error) {
			return identity, found, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	token := edToken(nil)
	mustAccept(t, a, token)
	identity.AccountID = "acct-2-v1"
	if p := mustAccept(t, a, token); p.AccountID != "acct-2-v1" {
		t.Errorf("still a member of %s", p.AccountID)
	}
	identity.Status = resources.StatusSuspended
	mustRefuse(t, a, token)
	identity.Status, found = resources.StatusActive, false
	mustRefuse(t, a, token)
	found = true
	mustAccept(t, a, token)
}

// TestMemoryOfTokensIsBounded by their number and by what one says; what is in use stays.
func TestMemoryOfTokensIsBounded(t *testing.T) {
	const room = 16
	a := remembering(t, newClock(), room, issuer(keySet(t, standardKeys()...)))
	used := edToken(nil)
	vouched, first := a.Vouched(used), a.Vouched(used)
	if vouched == nil || vouched != first {
		t.Fatal("a second use did not find what the first one left")
	}
	for i := range 10 * room {
		mustAccept(t, a, edToken(object{"jti": fmt.Sprint(i)}))
		mustRefuse(t, a, edToken(object{"jti": fmt.Sprint(i), "aud": "another"}))
		if i%(room/2-1) == 0 && a.Vouched(used) != first {
			t.Fatalf("round %d: a token in use was dropped", i)
		}
		if n := a.Remembered(); n > room {
			t.Fatalf("%d tokens are remembered", n)
		}
	}
	before := a.Remembered()
	long := edToken(object{"scope": strings.Repeat("a ", 2000)})
	mustAccept(t, a, long)
	mustAccept(t, a, long)
	if a.Remembered() != before {
		t.Error("a token that says too much is remembered")
	}
	off := remembering(t, newClock(), -1, issuer(keySet(t, standardKeys()...)))
	mustAccept(t, off, used)
	if off.Vouched(used) != nil {
		t.Error("remembered what was not to be")
	}
}

// TestRememberedTokensUnderRotation: many callers, while the key comes and goes, and time
// passes. Once a removal is answered, nobody gets in.
func TestRememberedTokensUnderRotation(t *testing.T) {
	good, other := keySet(t, standardKeys()...), keySet(t, standardKeys()[1:]...)
	source := &switched{set: good}
	a := remembering(t, newClock(), 4, issuer(source))
	tokens := make([]string, 8)
	for i := range tokens {
		tokens[i] = edToken(object{"jti": fmt.Sprint(i)})
	}
	var gate sync.RWMutex // held by the one who changes the keys
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
