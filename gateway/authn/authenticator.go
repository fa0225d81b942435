package authn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
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
	// Remembered is how many verified tokens are remembered at most, so that their signature
	// is checked once; 0 is DefaultRemembered, less than 0 none. One takes about a kilobyte,
	// at most three.
	Remembered int
	// Checks bounds the signatures that are checked at once, and those that wait; nil is no
	// bound. A token that is remembered waits for none.
	Checks *gate.Gate
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Authenticator checks tokens and API keys. It is safe for concurrent use. Of a token that
// proved right it remembers what was said, never whose it is; of keys nothing.
type Authenticator struct {
	issuers   map[string]*trusted
	memory    *memory
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
	if o.Remembered == 0 {
		o.Remembered = DefaultRemembered
	}
	a := &Authenticator{
		issuers: make(map[string]*trusted, len(o.Issuers)), memory: newMemory(o.Remembered), directory: o.Directory,
		keys: o.Keys, apiKeys: o.APIKeys, used: o.Used, signIn: o.SignIn, checks: o.Checks, now: now,
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

// token gives what is known of a token that holds, or finds it out.
func (a *Authenticator) token(ctx context.Context, token string) (*verified, error) {
	if strings.TrimSpace(token) == "" {
		return nil, absent()
	}
	if len(token) > maxTokenSize {
		return nil, refused(errTokenSize)
	}
	name := a.memory.name(token)
	if known := a.memory.get(name); known != nil {
		holds, err := known.holds(ctx, a.now())
		if holds {
			return known, nil
		}
		a.memory.forget(name, known)
		if err != nil {
			return nil, err
		}
	}
	fresh, err := a.check(ctx, token)
	if err != nil {
		return nil, err
	}
	a.memory.keep(name, fresh)
	return fresh, nil
}

// check verifies a token of which nothing is known.
func (a *Authenticator) check(ctx context.Context, token string) (*verified, error) {
	read, err := readUnverified(token)
	if err != nil {
		return nil, refused(err)
	}
	issuer := a.issuers[read.issuer]
	if issuer == nil {
		return nil, refusedf("issuer %s: %w", quoted(read.issuer), errUnknownIssuer)
	}
	keys, key, err := issuer.key(ctx, read.header)
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
	return &verified{issuer: issuer, header: read.header, keys: keys, key: key, from: from, until: until, claims: Claims{
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

// key gives the issuer's key for the header, and the set that has it, and has its source look again once
// where it is not there.
func (t *trusted) key(ctx context.Context, h header) (KeySet, verifyKey, error) {
	for _, missing := range []bool{false, true} {
		set, err := t.Keys.Keys(ctx, missing)
		if err != nil {
			if ctx.Err() != nil {
				return KeySet{}, verifyKey{}, resources.Unavailable("The token could not be checked in time.", ctx.Err())
			}
			return KeySet{}, verifyKey{}, refusedf("issuer %q: %w", t.Issuer.Issuer, err)
		}
		key, err := set.find(h)
		if err == nil {
			return set, key, nil
		}
		if missing || !errors.Is(err, errUnknownKey) {
			return KeySet{}, verifyKey{}, refusedf("issuer %q, kid %s, %s: %w", t.Issuer.Issuer, quoted(h.kid), h.alg, err)
		}
	}
	return KeySet{}, verifyKey{}, refused(errUnknownKey)
}
