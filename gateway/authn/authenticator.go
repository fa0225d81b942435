package authn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

var (
	errUnknownIssuer = errors.New("no issuer of that name is configured")
	errNoSubject     = errors.New("the token names no subject, or one that is blank, padded or can't be seen whole")
)

// Options are what an Authenticator is made of.
type Options struct {
	// Issuers are the trusted makers of tokens; at least one, no name twice.
	Issuers []Issuer
	// Directory knows the users.
	Directory Directory
	// Keys knows the API keys and APIKeys checks them; nil refuses every key.
	Keys    KeyDirectory
	APIKeys resources.APIKeys
	// SignIn is asked where a checked token with a verified e-mail names nobody: the first
	// sign-in of somebody who was invited makes the subject a user's. nil is never. It says
	// whether the subject names a user now.
	SignIn func(ctx context.Context, subject, email string) (bool, error)
	// Used is told of each API key that was accepted, by the id of its record; it must
	// not block. nil is nobody.
	Used func(keyID string, at resources.Time)
	// CachedTokens is how many verified tokens are cached, so that their signature is checked
	// once; 0 is DefaultCachedTokens, a negative number none. A token takes about a kilobyte,
	// at most three.
	CachedTokens int
	// Checks bounds the signatures that are checked at once, and those that wait; nil is no
	// bound. A cached token does not wait.
	Checks *gate.Gate
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Authenticator checks tokens and API keys. It is safe for concurrent use. Of a token that
// proved right it remembers what was said, never whose it is; of keys nothing.
type Authenticator struct {
	issuers   map[string]*trusted
	tokens    *memo.Table[tokenHash, verified] // nil where none are cached
	directory Directory
	keys      KeyDirectory
	apiKeys   resources.APIKeys
	used      func(keyID string, at resources.Time)
	signIn    func(ctx context.Context, subject, email string) (bool, error)
	checks    *gate.Gate
	now       func() time.Time
}

// New checks the settings and makes an Authenticator. It does no input or output.
// The error is one line for the operator.
func New(o Options) (*Authenticator, error) {
	if len(o.Issuers) == 0 {
		return nil, errors.New("authentication: no issuer is configured")
	}
	if o.Directory == nil {
		return nil, errors.New("authentication: no user directory is given")
	}
	if o.Keys != nil && o.APIKeys.IsZero() {
		return nil, errors.New("authentication: API keys have no master key")
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	a := &Authenticator{
		issuers: make(map[string]*trusted, len(o.Issuers)), directory: o.Directory,
		keys: o.Keys, apiKeys: o.APIKeys, used: o.Used, signIn: o.SignIn, checks: o.Checks, now: now,
	}
	if o.CachedTokens >= 0 {
		a.tokens = memo.New[tokenHash, verified](cmp.Or(o.CachedTokens, DefaultCachedTokens))
	}
	for _, settings := range o.Issuers {
		issuer, err := trust(settings, now)
		if err != nil {
			return nil, fmt.Errorf("authentication: %w", err)
		}
		if a.issuers[issuer.Issuer.Issuer] != nil {
			return nil, fmt.Errorf("authentication: the issuer %q is configured twice", settings.Issuer)
		}
		a.issuers[settings.Issuer] = issuer
	}
	return a, nil
}

// Verify says who the bearer of the token is: Claims, then Principal. Errors are
// *resources.Error: KindNoCredential for a blank token, KindBadCredential with one
// text for every refused one, KindUnavailable where it could not be found out.
func (a *Authenticator) Verify(ctx context.Context, token string) (resources.Principal, error) {
	v, err := a.token(ctx, token)
	if err != nil {
		return resources.Principal{}, err
	}
	p, err := a.Principal(ctx, v.claims)
	if err != nil {
		return resources.Principal{}, err
	}
	return p, nil
}

// Claims checks the token alone: form, signature, issuer, audience, subject and
// times. It asks no directory. Errors as in Verify. The scope is shared: it is not to be
// written to.
func (a *Authenticator) Claims(ctx context.Context, token string) (Claims, error) {
	v, err := a.token(ctx, token)
	if err != nil {
		return Claims{}, err
	}
	return v.claims, nil
}

// checkSize refuses a blank token and one that is longer than any that is accepted.
func checkSize(token string) error {
	switch {
	case strings.TrimSpace(token) == "":
		return absent()
	case len(token) > maxTokenSize:
		return refused(errTokenSize)
	}
	return nil
}

// verify checks a token from its form to its claims.
func (a *Authenticator) verify(ctx context.Context, token string) (*verified, error) {
	read, err := readUnverified(token)
	if err != nil {
		return nil, refused(err)
	}
	issuer := a.issuers[read.issuer]
	if issuer == nil {
		return nil, refusedf("issuer %s: %w", quoted(read.issuer), errUnknownIssuer)
	}
	key, err := issuer.key(ctx, read.header)
	if err != nil {
		return nil, err
	}
	claims := &payload{}
	if err := a.checkSignature(ctx, issuer, key, token, claims); err != nil {
		return nil, err
	}
	if !resources.ValidSubject(claims.subject) {
		return nil, refused(errNoSubject)
	}
	from, until := claims.bounds()
	return &verified{issuer: issuer, header: read.header, key: key, from: from, until: until, claims: Claims{
		Issuer:        claims.issuer,
		Subject:       claims.subject,
		Email:         claims.email,
		EmailVerified: claims.emailVerified,
		Scope:         strings.FieldsFunc(claims.scope, func(r rune) bool { return r == ' ' }),
		ExpiresAt:     resources.At(claims.expires.Time),
	}}, nil
}

// checkSignature reads the claims of a token that the key vouches for. It is what costs most
// of a token that is made up.
func (a *Authenticator) checkSignature(ctx context.Context, issuer *trusted, key verifyKey, token string, claims *payload) error {
	if err := a.checks.Enter(ctx); err != nil {
		return err
	}
	defer a.checks.Leave()
	if _, err := issuer.parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return key.public, nil }); err != nil {
		return refusedf("issuer %q: %w", issuer.Issuer.Issuer, err)
	}
	return nil
}

// key returns the issuer's key for the header. Where the source has no such key, it is asked
// once more, so that it may look for new ones.
func (t *trusted) key(ctx context.Context, h header) (verifyKey, error) {
	for _, missing := range []bool{false, true} {
		set, err := t.Keys.Keys(ctx, missing)
		if err != nil {
			if ctx.Err() != nil {
				return verifyKey{}, resources.Unavailable("The token could not be checked in time.", ctx.Err())
			}
			return verifyKey{}, refusedf("issuer %q: %w", t.Issuer.Issuer, err)
		}
		key, err := set.find(h)
		if err == nil {
			return key, nil
		}
		if missing || !errors.Is(err, errUnknownKey) {
			return verifyKey{}, refusedf("issuer %q, kid %s, %s: %w", t.Issuer.Issuer, quoted(h.kid), h.alg, err)
		}
	}
	return verifyKey{}, refused(errUnknownKey)
}
