package resources

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The form of an API key (API contract, 2): prefix, key id, secret, checksum. Lengths are in
// characters.
const (
	apiKeyPrefix         = "pcl_sk_live_"
	apiKeyIDLength       = 26
	apiKeySecretLength   = 32 // 5 random bits a character: 160 bits
	apiKeyChecksumLength = 7
)

// Scopes of an API key. A key carries its owner's permissions for requests of these effects.
const (
	KeyScopeRead  = "read"
	KeyScopeWrite = "write"
)

// APIKey is the stored record of a key. The key itself is not in it.
type APIKey struct {
	// ID is `apikey-<key id>-v1`; the key id is a part of the key.
	ID        string   `json:"id"`
	AccountID string   `json:"account_id"`
	UserID    string   `json:"user_id"`
	Name      string   `json:"key_name"`
	Scopes    []string `json:"scopes"`
	// Hash is the keyed hash of the whole key.
	Hash []byte `json:"hash"`
	// MadeWith is the fingerprint of Hash's master key, "" for a hash of an earlier release.
	MadeWith string `json:"made_with,omitempty"`
	// Last4 holds the last four characters of the key, for the masked form.
	Last4 string `json:"last4"`
	// RevokedAt is zero for a key that is not revoked.
	RevokedAt Time `json:"revoked_at,omitzero"`
	// ExpiresAt is zero for a key that does not expire.
	ExpiresAt Time `json:"expires_at,omitzero"`
	CreatedAt Time `json:"created_at"`
}

// Active says whether the key can be used at that time.
func (k APIKey) Active(now Time) bool {
	return k.RevokedAt == 0 && (k.ExpiresAt == 0 || now < k.ExpiresAt)
}

// Masked returns the form in which a key is shown after its creation.
func (k APIKey) Masked() string { return "pcl_sk_…" + k.Last4 }

// KeyFact holds what authentication reads of a key that is not revoked.
type KeyFact struct {
	ID        string   `json:"id"`
	Hash      []byte   `json:"hash"`
	Scopes    []string `json:"scopes"`
	ExpiresAt Time     `json:"expires_at,omitzero"`
}

// APIKeys is the maker and checker of API keys.
type APIKeys struct {
	secrets [][]byte
	// fingerprint is that of the master key of the first secret.
	fingerprint string
}

// NewAPIKeys derives the secrets of the hash from the master key (PurposeAPIKey). Hash uses
// the first one, Match all of them.
func NewAPIKeys(m MasterKey) APIKeys {
	out := APIKeys{secrets: m.Derive(PurposeAPIKey)}
	if prints := m.Fingerprints(); len(prints) > 0 {
		out.fingerprint = prints[0]
	}
	return out
}

// IsZero reports whether there is no secret to hash with. Match is false then.
func (a APIKeys) IsZero() bool { return len(a.secrets) == 0 }

// New makes a key and the id of its record.
func (a APIKeys) New(ids IDs) (raw, id string) {
	keyID := ids.ULID()
	random := make([]byte, apiKeySecretLength)
	ids.fill(random)
	for i, b := range random {
		random[i] = crockford[b&31]
	}
	raw = apiKeyPrefix + keyID + string(random)
	return raw + checksum(raw), "apikey-" + keyID + "-v1"
}

// Hash returns the keyed hash of a raw key.
func (a APIKeys) Hash(raw string) []byte { return hashWith(a.secrets[0], raw) }

// Fingerprint returns the fingerprint of Hash's master key.
func (a APIKeys) Fingerprint() string { return a.fingerprint }

// Match says whether hash is the hash of the raw key. It takes the same time for every key.
func (a APIKeys) Match(raw string, hash []byte) bool {
	match := false
	for _, secret := range a.secrets {
		match = hmac.Equal(hashWith(secret, raw), hash) || match
	}
	return match
}

// hashWith returns the HMAC-SHA-256 of the raw key.
func hashWith(secret []byte, raw string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(raw))
	return mac.Sum(nil)
}

// IsAPIKey says whether a credential begins like an API key.
func IsAPIKey(s string) bool { return strings.HasPrefix(s, apiKeyPrefix) }

// ParseAPIKey returns the id of a well-formed key's record. The checksum tells a mistyped key
// without a look-up.
func ParseAPIKey(raw string) (id string, ok bool) {
	const length = len(apiKeyPrefix) + apiKeyIDLength + apiKeySecretLength + apiKeyChecksumLength
	if len(raw) != length || !IsAPIKey(raw) {
		return "", false
	}
	body, sum := raw[:length-apiKeyChecksumLength], raw[length-apiKeyChecksumLength:]
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

// checksum returns the CRC-32 of the text in seven characters.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, apiKeyChecksumLength)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[sum&31]
		sum >>= 5
	}
	return string(out)
}
