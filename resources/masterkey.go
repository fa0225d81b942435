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

const (
	// minMasterKey is the least length of a master key in bytes.
	minMasterKey = 32
	// minDifferentBytes is how many different bytes a master key has at least. Of 10^40 random
	// keys of 32 bytes one has fewer.
	minDifferentBytes = 8
)

// Purposes for which secrets are derived from the master key. Each has a secret of its own.
const (
	PurposeSigning   = "portcullis/v1/issuer-ed25519"
	PurposePageToken = "portcullis/v1/page-token"
	PurposeAPIKey    = "portcullis/v1/api-key"
	PurposeCache     = "portcullis/v1/cached-value"
	PurposeAssertion = "portcullis/v1/upstream-assertion-ed25519"
	PurposeRate      = "portcullis/v1/shared-rate"
	PurposeLog       = "portcullis/v1/decision-log-ed25519"
	PurposeConsole   = "portcullis/v1/console-session"
	PurposeMCP       = "portcullis/v1/mcp-id"
)

// MasterKey holds the keys from which all shared secrets of the replicas are derived. The first key
// is the one in use, the others are accepted for rotation.
type MasterKey struct{ keys [][]byte }

// ReadMasterKey reads one base64 key a line. It skips blank lines and lines that begin with #.
// Errors name the line and do not quote it.
func ReadMasterKey(r io.Reader) (MasterKey, error) {
	var m MasterKey
	scan := bufio.NewScanner(r)
	line := 1
	for ; scan.Scan(); line++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return MasterKey{}, fmt.Errorf("line %d is not base64", line)
		}
		if len(key) < minMasterKey {
			return MasterKey{}, fmt.Errorf("line %d has %d bytes; at least %d random bytes are needed", line, len(key), minMasterKey)
		}
		if n := differentBytes(key); n < minDifferentBytes {
			return MasterKey{}, fmt.Errorf("line %d has %d different bytes and was not made at random; make one with `head -c 32 /dev/urandom | base64`", line, n)
		}
		m.keys = append(m.keys, key)
	}
	if err := scan.Err(); err != nil {
		return MasterKey{}, fmt.Errorf("line %d can't be read: %w", line, err)
	}
	if len(m.keys) == 0 {
		return MasterKey{}, errors.New("it has no key; one line of base64 is needed")
	}
	return m, nil
}

// differentBytes counts the different values among the bytes of the key.
func differentBytes(key []byte) int {
	seen := map[byte]bool{}
	for _, b := range key {
		seen[b] = true
	}
	return len(seen)
}

// Derive returns a secret of 32 bytes for the purpose from each key, the key in use first
// (HKDF-SHA-256, RFC 5869).
func (m MasterKey) Derive(purpose string) [][]byte {
	out := make([][]byte, len(m.keys))
	for i, key := range m.keys {
		derived, err := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
		if err != nil {
			panic("resources: hkdf: " + err.Error()) // it fails for more than 255 hashes only
		}
		out[i] = derived
	}
	return out
}

// Fingerprints returns a name for each key, the key in use first. The name does not reveal
// the key.
func (m MasterKey) Fingerprints() []string {
	var out []string
	for _, derived := range m.Derive("portcullis/v1/fingerprint") {
		out = append(out, hex.EncodeToString(derived[:8]))
	}
	return out
}
