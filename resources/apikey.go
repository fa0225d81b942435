package resources

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The form of an API key (API contract, 2): prefix, key id, secret, checksum.
const (
	apiKeyPrefix   = "pcl_sk_live_"
	apiKeyIDLength = 26
	apiKeySecret   = 32 // characters of 5 random bits: 160 bits
	apiKeyChecksum = 7
)

// Scopes of an API key: which verbs it allows of its owner's rights.
const (
	KeyScopeRead  = "read"
	KeyScopeWrite = "write"
)

// APIKey is the record of a key: everything but the key.
type APIKey struct {
	// ID is `apikey-<key id>-v1`; the key id is part of the key's form.
	ID        string   `json:"id"`
	AccountID string   `json:"account_id"`
	UserID    string   `json:"user_id"`
	Name      string   `json:"key_name"`
	Scopes    []string `json:"scopes"`
	// Hash is the keyed hash of the whole key; Last4 its last characters, for the masked form.
	Hash  []byte `json:"hash"`
	Last4 string `json:"last4"`
	// RevokedAt and ExpiresAt are zero for a key that is neither.
	RevokedAt Time `json:"revoked_at,omitzero"`
	ExpiresAt Time `json:"expires_at,omitzero"`
	CreatedAt Time `json:"created_at"`
}

// Active says whether the key can be used now.
func (k APIKey) Active(now Time) bool {
	return k.RevokedAt == 0 && (k.ExpiresAt == 0 || now < k.ExpiresAt)
}

// Masked is the form in which a key is shown after its creation.
func (k APIKey) Masked() string { return "pcl_sk_…" + k.Last4 }

// KeyFact is what a decision must know of a key that was not revoked.
type KeyFact struct {
	ID        string   `json:"id"`
	Hash      []byte   `json:"hash"`
	Scopes    []string `json:"scopes"`
	ExpiresAt Time     `json:"expires_at,omitzero"`
}

// APIKeys makes and checks keys; only a keyed hash of one is ever kept.
type APIKeys struct{ secrets [][]byte }

// NewAPIKeys hashes with keys derived from the master key (PurposeAPIKey): the first
// one in use, the others still accepted.
func NewAPIKeys(m MasterKey) APIKeys { return APIKeys{secrets: m.Derive(PurposeAPIKey)} }

// IsZero says whether there is no key to hash with: nothing matches then.
func (a APIKeys) IsZero() bool { return len(a.secrets) == 0 }

// New makes a raw key and the id of its record.
func (a APIKeys) New(ids IDs) (raw, id string) {
	keyID := ids.ULID()
	random := make([]byte, apiKeySecret)
	ids.fill(random)
	for i, b := range random {
		random[i] = crockford[b&31]
	}
	raw = apiKeyPrefix + keyID + string(random)
	return raw + checksum(raw), "apikey-" + keyID + "-v1"
}

// Hash is the keyed hash of a raw key.
func (a APIKeys) Hash(raw string) []byte { return hashWith(a.secrets[0], raw) }

// Match says, in the same time for every wrong key, whether hash is that of raw.
func (a APIKeys) Match(raw string, hash []byte) bool {
	match := false
	for _, secret := range a.secrets {
		match = hmac.Equal(hashWith(secret, raw), hash) || match
	}
	return match
}

func hashWith(secret []byte, raw string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(raw))
	return mac.Sum(nil)
}

// IsAPIKey says whether a credential claims to be an API key.
func IsAPIKey(s string) bool { return strings.HasPrefix(s, apiKeyPrefix) }

// ParseAPIKey gives the record's id of a well-formed raw key; a mistyped one is
// found out by its checksum, without a look-up.
func ParseAPIKey(raw string) (id string, ok bool) {
	const length = len(apiKeyPrefix) + apiKeyIDLength + apiKeySecret + apiKeyChecksum
	if len(raw) != length || !IsAPIKey(raw) {
		return "", false
	}
	body, sum := raw[:length-apiKeyChecksum], raw[length-apiKeyChecksum:]
	for i := len(apiKeyPrefix); i < len(body); i++ {
		if strings.IndexByte(crockford, body[i]) < 0 {
			return "", false
		}
	}
	if checksum(body) != sum {
		return "", false
	}
	return "apikey-" + body[len(apiKeyPrefix):len(apiKeyPrefix)+apiKeyIDLength] + "-v1", true
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, apiKeyChecksum)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[sum&31]
		sum >>= 5
	}
	return string(out)
}
