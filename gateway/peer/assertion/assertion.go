package assertion

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// Header carries an assertion to an upstream.
const Header = "X-Portcullis-Assertion"

// Issuer is the iss of every assertion.
const Issuer = "portcullis-gateway"

// TTL is how long an assertion is valid.
const TTL = 30 * time.Second

// leeway is how far the clocks of two processes may differ.
const leeway = 5 * time.Second

// tokenType is the typ of an assertion's header (RFC 8725, 3.11): no access token has it.
const tokenType = "portcullis-assertion+jwt"

// maxSize is the length of the longest accepted assertion in bytes. The gateway writes hashes in
// place of values of any length.
const maxSize = 8 << 10

// Statement holds what the gateway states of one request.
type Statement struct {
	// Upstream is the receiver: the audience of the catalogue row, else the name of its upstream.
	Upstream string
	// RequestID is the request's id, as in the log.
	RequestID string
	// Method and Target are those of the request to the upstream. The assertion has the
	// target's SHA-256, since a target may have any bytes.
	Method, Target string
	// IdempotencyKey is the header's value, "" for none.
	IdempotencyKey string
	// Body is the request's body. The assertion has its SHA-256, unless BodyUnknown says that the
	// gateway did not read it. Verify refuses such an assertion; it is for a service behind a
	// proxy.
	Body        []byte
	BodyUnknown bool
	// Principal is the caller, Account the account of the route, Action the allowed action.
	Principal       resources.Principal
	Account, Action string
}

// claims are the claims of an assertion.
type claims struct {
	jwt.RegisteredClaims
	RequestID string    `json:"request_id"`
	Method    string    `json:"method"`
	Target    string    `json:"target_sha256"`
	Repeat    string    `json:"idempotency_key_sha256"`
	Body      string    `json:"body_sha256,omitempty"`
	Principal principal `json:"principal"`
	Account   string    `json:"account"`
	Action    string    `json:"action"`
}

// principal is a resources.Principal in an assertion.
type principal struct {
	Kind       string   `json:"kind"`
	UUID       string   `json:"uuid,omitempty"`
	AccountID  string   `json:"account_id,omitempty"`
	Scopes     []string `json:"scopes,omitempty"`
	Credential string   `json:"credential"`
	KeyScopes  []string `json:"key_scopes,omitempty"`
	KeyID      string   `json:"key_id,omitempty"`
	// Client has no scopes: they may be long, and the gateway has judged them.
	Client *resources.Client `json:"client,omitempty"`
}

// clientOf returns the client of a principal as an assertion has it.
func clientOf(p *resources.Principal) *resources.Client {
	if p.Client == nil {
		return nil
	}
	c := *p.Client
	c.Scopes = nil
	return &c
}

var (
	errNoMasterKey = errors.New("assertion: the master key is empty; it needs at least one line")
	errRefused     = errors.New("assertion: not valid for this request")
)

// Keys signs and checks assertions. The first master key signs and all of them check, so that
// processes may get a rotated key one after the other. It is safe for concurrent use.
type Keys struct {
	// Now is the clock.
	Now func() time.Time

	kid    string
	key    ed25519.PrivateKey
	public map[string]ed25519.PublicKey
	jwks   []byte
}

// NewKeys derives the keys. It fails on an empty master key.
func NewKeys(master resources.MasterKey, now func() time.Time) (*Keys, error) {
	k := &Keys{Now: now, public: map[string]ed25519.PublicKey{}}
	var published []ed25519.PublicKey
	for _, seed := range master.Derive(resources.PurposeAssertion) {
		key := ed25519.NewKeyFromSeed(seed)
		public := key.Public().(ed25519.PublicKey)
		kid := authn.KeyID(public)
		if k.key == nil {
			k.key, k.kid = key, kid
		}
		if k.public[kid] == nil {
			published = append(published, public)
		}
		k.public[kid] = public
	}
	if k.key == nil {
		return nil, errNoMasterKey
	}
	k.jwks = authn.EncodeJWKS(published...)
	return k, nil
}

// JWKS returns the public keys as a JWK set (RFC 7517), for upstreams that check assertions with
// a library of their own.
func (k *Keys) JWKS() []byte { return k.jwks }

// Sign returns the assertion of a statement.
func (k *Keys) Sign(s Statement) (string, error) {
	now, body := k.Now(), ""
	if !s.BodyUnknown {
		body = hash(s.Body)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: Issuer, Audience: jwt.ClaimStrings{s.Upstream}, Subject: s.Principal.ID,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(TTL)),
		},
		RequestID: s.RequestID, Method: s.Method,
		Target: hash([]byte(s.Target)), Repeat: hash([]byte(s.IdempotencyKey)), Body: body,
		Account: s.Account, Action: s.Action,
		Principal: principal{
			Kind: s.Principal.Kind, UUID: s.Principal.UUID, AccountID: s.Principal.AccountID, Scopes: s.Principal.Scopes,
			Credential: s.Principal.Credential, KeyScopes: s.Principal.KeyScopes, KeyID: s.Principal.KeyID,
			Client: clientOf(&s.Principal),
		},
	})
	token.Header["typ"], token.Header["kid"] = tokenType, k.kid
	signed, err := token.SignedString(k.key)
	if err != nil {
		return "", fmt.Errorf("assertion: %w", err)
	}
	return signed, nil
}

// Verify checks an assertion against the request that it came with: seen has the upstream and the
// request as it was received. It returns seen with the principal, the account and the action of
// the assertion. Any error refuses the request. The texts are for the log.
func (k *Keys) Verify(token string, seen Statement) (Statement, error) {
	// The base64 decoder skips line breaks even when it is strict.
	if len(token) > maxSize || strings.ContainsAny(token, "\r\n") {
		return Statement{}, errRefused
	}
	var c claims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithIssuer(Issuer), jwt.WithAudience(seen.Upstream), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(k.Now),
	)
	if _, err := parser.ParseWithClaims(token, &c, k.find); err != nil {
		return Statement{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	switch {
	case seen.Upstream == "", len(c.Audience) != 1, c.IssuedAt == nil, c.ExpiresAt.Sub(c.IssuedAt.Time) > TTL:
		return Statement{}, errRefused
	case c.RequestID != seen.RequestID || c.Method != seen.Method || c.Target != hash([]byte(seen.Target)) ||
		c.Repeat != hash([]byte(seen.IdempotencyKey)):
		return Statement{}, fmt.Errorf("%w: it is for the request %s", errRefused, c.RequestID)
	case c.Body != hash(seen.Body):
		return Statement{}, fmt.Errorf("%w: the body differs", errRefused)
	}
	seen.Account, seen.Action = c.Account, c.Action
	seen.Principal = resources.Principal{
		Kind: c.Principal.Kind, ID: c.Subject, UUID: c.Principal.UUID, AccountID: c.Principal.AccountID, Scopes: c.Principal.Scopes,
		Credential: c.Principal.Credential, KeyScopes: c.Principal.KeyScopes, KeyID: c.Principal.KeyID, Client: c.Principal.Client,
	}
	return seen, nil
}

// find returns the key of an assertion's kid.
func (k *Keys) find(t *jwt.Token) (any, error) {
	kid, _ := t.Header["kid"].(string)
	public := k.public[kid]
	if _, critical := t.Header["crit"]; public == nil || critical || t.Header["typ"] != tokenType {
		return nil, errRefused
	}
	return public, nil
}

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
