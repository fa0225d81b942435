package client

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// AssertionHeader has the gateway's word for a request that it let in.
const AssertionHeader = "X-Portcullis-Assertion"

const (
	assertionIssuer = "portcullis-gateway"
	assertionType   = "portcullis-assertion+jwt"
	assertionTTL    = 30 * time.Second
	// assertionSize bounds an assertion in bytes.
	assertionSize = 8 << 10
	// leeway is how far the clocks of gateway and service may differ.
	leeway = 5 * time.Second
)

// The values of Caller.Credential. It is "none" without a credential, on a public route.
const (
	CredentialToken = "token"
	CredentialKey   = "key" // an API key
)

// Caller is who sent a request, by the gateway's word.
type Caller struct {
	// ID is the user's external id, the service's name or the agent's id. Kind is user, service, agent, or none on a public
	// route.
	ID, Kind string
	// UUID and AccountID are a user's.
	UUID, AccountID string
	// Credential is CredentialToken or CredentialKey; KeyID and KeyScopes are the API key's.
	Credential, KeyID string
	Scopes, KeyScopes []string
	// Account is the account in question, Action what was allowed.
	Account, Action string
}

// Verifier checks assertions. It is safe for concurrent use.
type Verifier struct {
	audience string
	action   func(*http.Request) string
	body     bool
	keys     *keySet
	now      func() time.Time
}

// VerifierOptions are the settings of a Verifier. KeysURL, Audience and Action are needed.
type VerifierOptions struct {
	// KeysURL is where the gateway publishes the keys of assertions: /assertions/jwks.json on its
	// private listener.
	KeysURL string
	// Audience is the service's name in the gateway's catalogue: the row's upstream or audience.
	Audience string
	// Action returns what the service takes the request for: the action of its row, "" for a row without one. An
	// assertion for another action is refused. So a row with too wide a path lets nobody do what the service does on
	// this path.
	Action func(*http.Request) string
	// WithBody refuses an assertion without a hash of the body. Those of a proxy that asks first have none.
	WithBody bool
	// Timeout bounds a fetch of the keys; 0 is DefaultTimeout.
	Timeout time.Duration
	// Transport fetches the keys; nil is one like http.DefaultTransport.
	Transport http.RoundTripper
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

var (
	// ErrAssertion is the error of a request without an assertion that is valid for it: 401.
	ErrAssertion = errors.New("client: the request has no valid assertion of the gateway")
	// ErrKeys is the error of a check for which the keys can't be had: 503.
	ErrKeys = errors.New("client: the keys of assertions can't be had")

	errTried    = errors.New("they were asked for a moment ago, in vain")
	errNoKeys   = errors.New("the key set has no Ed25519 key")
	errAudience = errors.New("client: Audience is required; it is the service's name in the gateway's catalogue")
	errAction   = errors.New("client: Action is required; it returns the action of a request, which the assertion must be for")
)

// NewVerifier returns a verifier. It fetches the keys with the first request.
func NewVerifier(o VerifierOptions) (*Verifier, error) {
	err := checkURL(o.KeysURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("KeysURL: %w", err)
	case o.Audience == "":
		return nil, errAudience
	case o.Action == nil:
		return nil, errAction
	case o.Timeout < 0:
		return nil, errTimeout
	}
	v := &Verifier{audience: o.Audience, action: o.Action, body: o.WithBody, now: o.Now}
	if v.now == nil {
		v.now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	v.keys = &keySet{url: o.KeysURL, timeout: o.Timeout, http: httpClient(o.Transport), now: v.now, turn: make(chan struct{}, 1)}
	return v, nil
}

// claims are the claims of an assertion.
type claims struct {
	Issuer    string   `json:"iss"`
	Audience  audience `json:"aud"`
	Subject   string   `json:"sub"`
	IssuedAt  *int64   `json:"iat"`
	ExpiresAt *int64   `json:"exp"`
	RequestID *string  `json:"request_id"`
	Method    string   `json:"method"`
	Target    string   `json:"target_sha256"`
	Body      *string  `json:"body_sha256"`
	Repeat    *string  `json:"idempotency_key_sha256"`
	Account   string   `json:"account"`
	Action    string   `json:"action"`
	Principal struct {
		Kind       string   `json:"kind"`
		UUID       string   `json:"uuid"`
		AccountID  string   `json:"account_id"`
		Scopes     []string `json:"scopes"`
		Credential string   `json:"credential"`
		KeyScopes  []string `json:"key_scopes"`
		KeyID      string   `json:"key_id"`
	} `json:"principal"`
}

// audience is a string, or a list of strings.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(a))
}

// Verify checks that the gateway let this request in, and returns its caller. body is the request's whole body. It is
// checked if the gateway read it. A proxy that asks the gateway first sends none (WithBody).
func (v *Verifier) Verify(ctx context.Context, r *http.Request, body []byte) (Caller, error) {
	sent := r.Header.Values(AssertionHeader)
	if len(sent) != 1 || len(sent[0]) > assertionSize {
		return Caller{}, ErrAssertion
	}
	payload, err := v.open(ctx, sent[0])
	if err != nil {
		return Caller{}, err
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return Caller{}, fmt.Errorf("%w: %w", ErrAssertion, err)
	}
	if !c.inTime(v.now()) || c.Issuer != assertionIssuer || len(c.Audience) != 1 || c.Audience[0] != v.audience {
		return Caller{}, fmt.Errorf("%w: its issuer, audience or time is another", ErrAssertion)
	}
	if c.Method != r.Method || c.Target != hash([]byte(r.RequestURI)) ||
		c.RequestID == nil || *c.RequestID != single(r.Header, "X-Request-ID") ||
		c.Repeat != nil && *c.Repeat != hash([]byte(single(r.Header, "Idempotency-Key"))) ||
		c.Body == nil && v.body || c.Body != nil && *c.Body != hash(body) {
		return Caller{}, fmt.Errorf("%w: it is for another request", ErrAssertion)
	}
	if action := v.action(r); c.Action != action {
		return Caller{}, fmt.Errorf("%w: it is for the action %q, and the request is for %q", ErrAssertion, c.Action, action)
	}
	p := c.Principal
	return Caller{
		ID: c.Subject, Kind: p.Kind, UUID: p.UUID, AccountID: p.AccountID, Credential: p.Credential, KeyID: p.KeyID,
		Scopes: p.Scopes, KeyScopes: p.KeyScopes, Account: c.Account, Action: c.Action,
	}, nil
}

// inTime reports whether the assertion is valid now, and was for no longer than any is.
func (c *claims) inTime(now time.Time) bool {
	if c.IssuedAt == nil || c.ExpiresAt == nil {
		return false
	}
	begin, end := time.Unix(*c.IssuedAt, 0), time.Unix(*c.ExpiresAt, 0)
	return end.Sub(begin) <= assertionTTL && !now.Before(begin.Add(-leeway)) && now.Before(end.Add(leeway))
}

// open checks the signature of a JWT and returns its payload.
func (v *Verifier) open(ctx context.Context, token string) ([]byte, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 { //nolint:mnd // RFC 7515: header, payload, signature
		return nil, ErrAssertion
	}
	decoded := make([][]byte, len(parts))
	for i, part := range parts {
		var err error
		// The decoder skips line breaks even when it is strict.
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return nil, ErrAssertion
		}
	}
	var header struct {
		Algorithm string          `json:"alg"`
		Type      string          `json:"typ"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if json.Unmarshal(decoded[0], &header) != nil || header.Algorithm != "EdDSA" || header.Type != assertionType || header.Critical != nil {
		return nil, ErrAssertion
	}
	key, err := v.keys.find(ctx, header.KeyID)
	if err != nil {
		return nil, err
	}
	if key == nil || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), decoded[2]) {
		return nil, ErrAssertion
	}
	return decoded[1], nil
}

// single returns the value of a header sent at most once; otherwise a value no assertion is for.
func single(h http.Header, name string) string {
	switch values := h.Values(name); len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	}
	return "\x00"
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
