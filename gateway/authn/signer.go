package authn

import (
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

// The names under which the built-in issuer signs.
const (
	BuiltinIssuer   = "portcullis"
	BuiltinAudience = "portcullis"
)

// jtiSize is the randomness of a token's id in bytes.
const jtiSize = 16

var (
	errNoMasterKey  = errors.New("signer: the master key is empty")
	errSignSubject  = errors.New("a token needs a subject: a user's id, or service-NAME in characters of [A-Za-z0-9._@-], at most 255 of a user and 128 of a service")
	errSignTTL      = errors.New("the time to live must be a second or more, and end before the year 10000")
	errSignScope    = errors.New("only a service's token has scopes")
	errSignTooLarge = errors.New("the token would be longer than 8 KiB")
)

// Signer is the built-in issuer: it signs with Ed25519 keys derived from the
// master key, and is the KeySource of its own tokens. The first key signs, all
// of them check, so that rotating the master key ends no token. It is safe for
// concurrent use once its fields are set.
type Signer struct {
	// Now is the clock; Random makes the tokens' ids.
	Now    func() time.Time
	Random io.Reader

	kid  string
	key  ed25519.PrivateKey
	set  KeySet
	jwks []byte
}

// TokenRequest is what a token is to say.
type TokenRequest struct {
	// Subject is a user's external id, or a service's name with resources.ServicePrefix.
	Subject string
	// Scopes are a service's; a user has none.
	Scopes []string
	// TTL is how long the token holds, cut to whole seconds, at least one.
	TTL time.Duration
}

// NewSigner derives the keys. It fails on a master key without keys.
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

// Issuer are the settings under which the signer's own tokens are trusted:
// subjects are external ids, services may have every scope.
func (s *Signer) Issuer() Issuer {
	return Issuer{
		Issuer:   BuiltinIssuer,
		Audience: BuiltinAudience,
		Keys:     s,
		Subjects: SubjectsExternalID,
		Services: Services{Allowed: true, Scopes: serviceScopes()},
	}
}

// Sign makes a token with iss, aud, sub, iat, exp, jti and, for a service, scope.
// It refuses what Verify would refuse; the error says how to ask instead.
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
		"aud": BuiltinAudience,
		"sub": r.Subject,
		"iat": now.Unix(),
		"exp": now.Add(r.TTL).Unix(),
		"jti": base64.RawURLEncoding.EncodeToString(id),
	}
	if len(r.Scopes) > 0 {
		claims["scope"] = strings.Join(r.Scopes, " ")
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

func (r TokenRequest) check(now time.Time) error {
	if r.TTL < time.Second || now.Add(r.TTL).Unix() > lastSecond {
		return errSignTTL
	}
	if !strings.HasPrefix(r.Subject, resources.ServicePrefix) {
		if !resources.ValidSubject(r.Subject) {
			return errSignSubject
		}
		if len(r.Scopes) > 0 {
			return errSignScope
		}
		return nil
	}
	if !resources.ValidID(r.Subject) || r.Subject == resources.ServicePrefix {
		return errSignSubject
	}
	return checkServices(Services{Allowed: len(r.Scopes) > 0, Scopes: r.Scopes})
}
