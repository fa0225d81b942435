package authn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources"
)

// DefaultCachedTokens is how many verified tokens are cached where Options do not say.
const DefaultCachedTokens = 1 << 15

// maxCachedSize bounds in bytes the claims of a cached token; a token with longer claims is
// verified each time.
const maxCachedSize = 2 << 10

// tokenHash is the SHA-256 of a whole token: a token cannot be read back from the cache, and
// nothing shorter than the token finds it.
type tokenHash [sha256.Size]byte

// verified is a checked token: its claims, and the key that checked its signature. It is
// immutable.
type verified struct {
	issuer *trusted
	header header
	key    verifyKey
	// start and until are when the token is valid, including the clocks' leeway.
	start, until time.Time
	// audience is the token's: each use compares its own with it.
	audience []string
	claims   Claims
	// client is never nil; malformed says why it has no name.
	client    *resources.Client
	malformed error
}

// meant refuses a token for other audiences.
func (v *verified) meant(audience string) error {
	if audience != "" && slices.Contains(v.audience, audience) {
		return nil
	}
	return refusedf("issuer %q: %w: %w", v.claims.Issuer, jwt.ErrTokenInvalidClaims, jwt.ErrTokenInvalidAudience)
}

// stillValid reports whether the token would be accepted now, without checking its signature again:
// the time is within its bounds, and its header still finds the same key. An error is the refusal
// of a token without its key.
func (v *verified) stillValid(ctx context.Context, now time.Time) (bool, error) {
	key, err := v.issuer.key(ctx, v.header)
	if err != nil {
		return false, err
	}
	return key.same(v.key) && !now.Before(v.start) && now.Before(v.until), nil
}

// size returns about how many bytes the claims take.
func (v *verified) size() int {
	size := len(v.header.kid) + len(v.claims.Issuer) + len(v.claims.Subject) + len(v.claims.Email)
	size += len(v.client.ID)
	for _, words := range [][]string{v.claims.Scope, v.audience, v.client.Actors} {
		for _, word := range words {
			size += 16 + len(word)
		}
	}
	return size
}

// token verifies a token for its issuer's own audience.
func (a *Authenticator) token(ctx context.Context, token string) (*verified, error) {
	return a.tokenFor(ctx, "", token)
}

// tokenFor verifies a token, or finds it in the cache of verified tokens. It must be meant for the audience; "" is its
// issuer's own.
//
// A hit spares the signature and the reading of the claims, and nothing else: stillValid judges the
// token anew, and Principal asks the directory for its subject. A refused token is never cached:
// only tokens of a trusted issuer take room. A cached token is deleted when it is no longer valid, and stays when it is
// refused for its audience.
func (a *Authenticator) tokenFor(ctx context.Context, audience, token string) (*verified, error) {
	if err := checkSize(token); err != nil {
		return nil, err
	}
	if a.tokens == nil {
		return a.verify(ctx, audience, token)
	}
	var room [1024]byte // of most tokens
	hash := tokenHash(sha256.Sum256(append(room[:0], token...)))
	if cached := a.tokens.Get(hash); cached != nil {
		valid, err := cached.stillValid(ctx, a.now())
		if valid {
			if err := cached.meant(cmp.Or(audience, cached.issuer.Audience)); err != nil {
				return nil, err
			}
			return cached, nil
		}
		a.tokens.Delete(hash)
		if err != nil {
			return nil, err
		}
	}
	v, err := a.verify(ctx, audience, token)
	if err != nil {
		return nil, err
	}
	if v.size() <= maxCachedSize {
		a.tokens.Put(hash, *v)
	}
	return v, nil
}

// CachedTokens returns how many verified tokens are cached, and how many may be.
func (a *Authenticator) CachedTokens() (entries, room int) {
	if a.tokens == nil {
		return 0, 0
	}
	return a.tokens.Len(), a.tokens.Room()
}
