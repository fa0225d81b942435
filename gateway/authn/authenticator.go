package authn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

var (
	errUnknownIssuer = errors.New("no issuer of that name is configured")
	errNoSubject     = errors.New("the token's subject is missing, blank, padded or not visible in full")
)

// Options are the settings of an Authenticator. Issuers and Directory are required.
type Options struct {
	// Issuers are the trusted issuers of tokens: at least one, with different names.
	Issuers []Issuer
	// Directory finds whom credentials name.
	Directory Directory
	// APIKeys checks API keys; the zero value refuses every key.
	APIKeys resources.APIKeys
	// SignIn is called for a valid token with a verified e-mail address and an unknown subject.
	// It makes the subject that of the invited user with this address, and reports whether
	// there was one. nil: an unknown subject is refused.
	SignIn func(ctx context.Context, subject, email string) (bool, error)
	// Used is called with the record id of each accepted API key. It must not block. nil is
	// not called.
	Used func(keyID string, moment resources.Time)
	// CachedTokens is how many verified tokens are cached, so that their signature is checked
	// once. 0 is DefaultCachedTokens, a negative number no cache. A token takes about one
	// kilobyte, at most three.
	CachedTokens int
	// Checks bounds how many signatures are checked at once, and how many wait. nil sets no bound.
	// A cached token does not wait.
	Checks *gate.Gate
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Authenticator checks tokens and API keys. It is safe for concurrent use.
type Authenticator struct {
	issuers   map[string]*trusted
	tokens    *memo.Table[tokenHash, verified] // nil if none are cached
	directory Directory
	apiKeys   resources.APIKeys
	used      func(keyID string, moment resources.Time)
	signIn    func(ctx context.Context, subject, email string) (bool, error)
	checks    *gate.Gate
	now       func() time.Time
}

// New checks the settings and returns an Authenticator. It does no input or output. The error
// is one line for the operator.
func New(o Options) (*Authenticator, error) {
	if len(o.Issuers) == 0 {
		return nil, errors.New("authentication: no issuer is configured; name at least one")
	}
	if o.Directory == nil {
		return nil, errors.New("authentication: no user directory is given")
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	a := &Authenticator{
		issuers: make(map[string]*trusted, len(o.Issuers)), directory: o.Directory,
		apiKeys: o.APIKeys, used: o.Used, signIn: o.SignIn, checks: o.Checks, now: now,
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
			return nil, fmt.Errorf("authentication: the issuer %q is configured twice; remove one of the two", settings.Issuer)
		}
		a.issuers[settings.Issuer] = issuer
	}
	return a, nil
}

// Verify returns the principal of a token with its client: Claims, then Principal. Errors are
// *resources.Error: KindNoCredential for a blank token, KindBadCredential with one text for
// every refused token, KindUnavailable where the token could not be checked.
func (a *Authenticator) Verify(ctx context.Context, token string) (resources.Principal, error) {
	v, err := a.token(ctx, token)
	if err != nil {
		return resources.Principal{}, err
	}
	return a.principalOf(ctx, "", v)
}

// principalOf returns the principal of a verified token, with its client. It refuses a service's token with an actor: an
// agent acts for users. agentsOf is the account whose agents count without a user, "" for none.
func (a *Authenticator) principalOf(ctx context.Context, agentsOf string, v *verified) (resources.Principal, error) {
	p, err := a.Principal(ctx, v.claims)
	if agentsOf != "" && errors.Is(err, errUnknownUser) {
		p, err = a.agent(ctx, agentsOf, v)
	}
	if err != nil {
		return resources.Principal{}, err
	}
	if p.Client = v.client; p.Kind == resources.PrincipalService && p.Client.HasActor() {
		return resources.Principal{}, refusedf("issuer %q: %w", v.claims.Issuer, errServiceActor)
	}
	return p, nil
}

// Claims checks the token alone (form, signature, issuer, audience, subject and times) and
// returns its claims. It asks no directory. Errors are those of Verify. The scope is shared:
// callers do not change it.
func (a *Authenticator) Claims(ctx context.Context, token string) (Claims, error) {
	v, err := a.token(ctx, token)
	if err != nil {
		return Claims{}, err
	}
	return v.claims, nil
}

// checkSize refuses a blank token and one of over 8 KiB.
func checkSize(token string) error {
	switch {
	case strings.TrimSpace(token) == "":
		return absent()
	case len(token) > maxTokenSize:
		return refused(errTokenSize)
	}
	return nil
}

// verify checks a token from its form to its claims, for an audience as tokenFor.
func (a *Authenticator) verify(ctx context.Context, audience, token string) (*verified, error) {
	head, name, err := readUnverified(token)
	if err != nil {
		return nil, refused(err)
	}
	issuer := a.issuers[name]
	if issuer == nil {
		return nil, refusedf("issuer %s: %w", quoted(name), errUnknownIssuer)
	}
	key, err := issuer.key(ctx, head)
	if err != nil {
		return nil, err
	}
	claims := &payload{}
	if err := a.checkSignature(ctx, issuer, key, token, claims); err != nil {
		return nil, err
	}
	start, until := claims.bounds()
	v := &verified{
		issuer: issuer, header: head, key: key, start: start, until: until, audience: claims.audience, claims: claims.Claims,
		client: claims.client, malformed: claims.malformed,
	}
	if err := v.meant(cmp.Or(audience, issuer.Audience)); err != nil {
		return nil, err
	}
	if !resources.ValidSubject(claims.Subject) {
		return nil, refused(errNoSubject)
	}
	v.client.Own, v.client.Until = slices.Contains(issuer.Apps, v.client.ID), resources.At(until)
	return v, nil
}

// checkSignature checks the token's signature with the key, and reads the claims. It is the
// costly step of a forged token, and so the one that Checks bounds.
func (a *Authenticator) checkSignature(ctx context.Context, issuer *trusted, key verifyKey, token string, claims *payload) error {
	if err := a.checks.Enter(ctx, ""); err != nil {
		return err
	}
	defer a.checks.Leave()
	if _, err := issuer.parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return key.public, nil }); err != nil {
		return refusedf("issuer %q: %w", issuer.Issuer.Issuer, err)
	}
	return nil
}

// key returns the issuer's key for the header. A source without this key is asked once more, and
// may then look for new ones.
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
