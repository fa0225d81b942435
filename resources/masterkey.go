package resources

import (
	"bufio"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// minMasterKey is the least length of a master key in bytes.
const minMasterKey = 32

// Purposes for which secrets are derived from the master key; no two share one.
const (
	PurposeSigning   = "portcullis/v1/issuer-ed25519"
	PurposePageToken = "portcullis/v1/page-token"
	PurposeAPIKey    = "portcullis/v1/api-key"
	PurposeCache     = "portcullis/v1/cached-value"
	PurposeAssertion = "portcullis/v1/upstream-assertion-ed25519"
	PurposeRate      = "portcullis/v1/shared-rate"
)

// MasterKey is the root of every secret that replicas share. The first key is in
// use, the others are still accepted (rotation).
type MasterKey struct{ keys [][]byte }

// ReadMasterKey reads one base64 key a line; blank lines and lines that begin
// with # are skipped. Errors name the line, never its content.
func ReadMasterKey(r io.Reader) (MasterKey, error) {
	var m MasterKey
	scan := bufio.NewScanner(r)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return MasterKey{}, fmt.Errorf("master key: line %d is not base64", n)
		}
		if len(key) < minMasterKey {
			return MasterKey{}, fmt.Errorf("master key: line %d has %d bytes; at least %d random bytes are needed", n, len(key), minMasterKey)
		}
		m.keys = append(m.keys, key)
	}
	if err := scan.Err(); err != nil {
		return MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	if len(m.keys) == 0 {
		return MasterKey{}, errors.New("master key: the file has no key; one line of base64 is needed")
	}
	return m, nil
}

// Derive gives 32 bytes for the purpose from each key, the one in use first (HKDF-SHA-256, RFC 5869).
func (m MasterKey) Derive(purpose string) [][]byte {
	out := make([][]byte, len(m.keys))
	for i, key := range m.keys {
		derived, err := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
		if err != nil {
			panic("resources: hkdf: " + err.Error()) // only for a length beyond 255 hashes
		}
		out[i] = derived
	}
	return out
}

// Fingerprints name the keys without telling anything of them, the one in use first.
func (m MasterKey) Fingerprints() []string {
	var out []string
	for _, derived := range m.Derive("portcullis/v1/fingerprint") {
		out = append(out, hex.EncodeToString(derived[:8]))
	}
	return out
}
