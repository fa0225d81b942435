package authn

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
)

// The `iss` and `aud` of the built-in issuer's tokens.
const (
	BuiltinIssuer   = "portcullis"
	BuiltinAudience = "portcullis"
)

// jtiSize is the length of a token's random id in bytes.
const jtiSize = 16

var (
	errNoMasterKey  = errors.New("signer: the master key is empty; it needs at least one line")
	errSignSubject  = errors.New("the subject must be a user's id of at most 255 bytes, or service-NAME of at most 128 characters of [A-Za-z0-9._@-]")
	errSignTTL      = errors.New("the time to live must be at least a second, and end before the year 10000")
	errSignScope    = errors.New("scopes must be left out for a user; only a service's token has them, and one for another audience")
	errSignAgent    = errors.New("the agent's client must be 1 to 255 bytes of visible text, and acts for a user")
	errSignTooLarge = errors.New("the token must not be longer than 8 KiB; name fewer scopes")
)

// Signer is the built-in issuer: it signs with Ed25519 keys derived from the master key, and is
// the KeySource of its own tokens. The first key signs and all of them check, so that tokens
// outlive a rotation of the master key. It is safe for concurrent use once its fields are set.
type Signer struct {
	// Now is the clock, Random the source of the tokens' ids.
	Now    func() time.Time
	Random io.Reader

	kid  string
	key  ed25519.PrivateKey
	set  KeySet
	jwks []byte
}

// TokenRequest holds the claims of a token to be signed.
type TokenRequest struct {
	// Subject is a user's external id, or a service's name with resources.ServicePrefix.
	Subject string
	// Scopes are those of a service, or of a token for an audience of its own; another token of a user has none.
	Scopes []string
	// Audience is the `aud`, "" for the issuer's own.
	Audience string
	// Agent is the client of the agent that acts for a user (`act`), "" for the user alone.
	Agent string
	// TTL is how long the token is valid, cut to whole seconds, at least one.
	TTL time.Duration
}

// NewSigner derives the keys and returns a signer. It fails on an empty master key.
func NewSigner(master resources.MasterKey) (*Signer, error) {
	s := &Signer{Now: time.Now, Random: rand.Reader}
	var published []ed25519.PublicKey
	for _, seed := range master.Derive(resources.PurposeSigning) {
		key := ed25519.NewKeyFromSeed(seed)
		public := key.Public().(ed25519.PublicKey)
		kid := KeyID(public)
		if s.key == nil {
			s.key, s.kid = key, kid
		}
		if !slices.ContainsFunc(published, func(p ed25519.PublicKey) bool { return p.Equal(public) }) {
			published = append(published, public)
			checks, err := newVerifyKey(kid, algEdDSA, public)
			if err != nil {
				return nil, fmt.Errorf("signer: %w", err)
			}
			s.set.keys = append(s.set.keys, checks)
		}
	}
	if s.key == nil {
		return nil, errNoMasterKey
	}
	s.jwks = EncodeJWKS(published...)
	return s, nil
}

// Issuer returns the settings under which the signer's tokens are trusted: subjects are external
// ids, and services may have every scope.
func (s *Signer) Issuer() Issuer {
	return Issuer{
		Issuer:   BuiltinIssuer,
		Audience: BuiltinAudience,
		Keys:     s,
		Subjects: SubjectsExternalID,
		Services: Services{Allowed: true, Scopes: resources.ServiceScopes()},
	}
}

// Sign returns a token with iss, aud, sub, iat, exp, jti, and scope and act if the request has them. It
// refuses a request whose token Verify would refuse; the error says what to change.
func (s *Signer) Sign(r TokenRequest) (string, error) {
	now := s.Now()
	if err := r.check(now); err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	id := make([]byte, jtiSize)
	if _, err := io.ReadFull(s.Random, id); err != nil {
		return "", fmt.Errorf("sign: no randomness: %w", err)
	}
	claims := jwt.MapClaims{
		"iss": BuiltinIssuer,
		"aud": cmp.Or(r.Audience, BuiltinAudience),
		"sub": r.Subject,
		"iat": now.Unix(),
		"exp": now.Add(r.TTL).Unix(),
		"jti": base64.RawURLEncoding.EncodeToString(id),
	}
	if len(r.Scopes) > 0 {
		claims["scope"] = strings.Join(r.Scopes, " ")
	}
	if r.Agent != "" {
		claims["act"] = map[string]string{"sub": r.Agent}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = s.kid
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	if len(signed) > maxTokenSize {
		return "", errSignTooLarge
	}
	return signed, nil
}

// check refuses what Verify would refuse.
func (r TokenRequest) check(now time.Time) error {
	if r.TTL < time.Second || now.Add(r.TTL).Unix() > lastSecond {
		return errSignTTL
	}
	if r.Agent != "" && (!resources.ValidSubject(r.Agent) || strings.HasPrefix(r.Subject, resources.ServicePrefix)) {
		return errSignAgent
	}
	if !strings.HasPrefix(r.Subject, resources.ServicePrefix) {
		if !resources.ValidSubject(r.Subject) {
			return errSignSubject
		}
		if len(r.Scopes) > 0 && r.Audience == "" {
			return errSignScope
		}
		return nil
	}
	if !resources.ValidID(r.Subject) || r.Subject == resources.ServicePrefix {
		return errSignSubject
	}
	return checkServices(Services{Allowed: len(r.Scopes) > 0, Scopes: r.Scopes})
}
