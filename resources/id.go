package resources

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
	"time"
)

// Prefixes of external identifiers (specification, "Common conventions").
const (
	PrefixAccount = "acct"
	PrefixProject = "proj"
	PrefixUser    = "user"
	PrefixRole    = "role"
	PrefixGroup   = "group"
)

// ServicePrefix starts the subject of a service's token; no user has it.
const ServicePrefix = "service-"

// maxIDLength bounds a plain identifier in a path or a header (API contract, 1).
const maxIDLength = 128

// ulidSize is the length of a ULID in characters.
const ulidSize = 26

// crockford is the alphabet of a ULID, in lower case.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// IDs makes identifiers from a clock and a source of randomness.
type IDs struct {
	// Now is the clock; the first 48 bits of an identifier are its milliseconds.
	Now func() time.Time
	// Random gives the other 80 bits. A failure panics: an identifier that could
	// repeat is worse than none.
	Random io.Reader
}

// New makes `<prefix>-<id>-v1` with a ULID of 26 lower-case characters.
func (g IDs) New(prefix string) string {
	return prefix + "-" + g.ULID() + "-v1"
}

// ULID makes a bare identifier of 26 lower-case characters that sorts by the
// millisecond in which it was made.
func (g IDs) ULID() string {
	var raw [16]byte // 48 bits of time, 80 of randomness
	g.fill(raw[6:])
	hi := uint64(g.Now().UnixMilli())<<16 | uint64(raw[6])<<8 | uint64(raw[7])
	lo := binary.BigEndian.Uint64(raw[8:])
	var out [ulidSize]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// UUID makes a random UUID (RFC 9562, version 4): the internal id of a user.
func (g IDs) UUID() string {
	var raw [16]byte
	g.fill(raw[:])
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	h := hex.EncodeToString(raw[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func (g IDs) fill(b []byte) {
	if _, err := io.ReadFull(g.Random, b); err != nil {
		panic("resources: no randomness: " + err.Error())
	}
}

// ValidID says whether s is a plain identifier: 1 to 128 characters of
// [A-Za-z0-9._@-].
func ValidID(s string) bool {
	if s == "" || len(s) > maxIDLength {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '@', c == '-':
		default:
			return false
		}
	}
	return true
}

// KnownIDForm says whether ids with the prefix have a pattern of their own.
func KnownIDForm(prefix string) bool { return prefix == PrefixAccount || prefix == PrefixProject }

// ValidExternalID says whether s has the specification's pattern for accounts or
// projects (`^acct-[a-zA-Z0-9]+-v1$`) and is short enough to be a plain identifier.
func ValidExternalID(prefix, s string) bool {
	middle, hasPrefix := strings.CutPrefix(s, prefix+"-")
	middle, hasSuffix := strings.CutSuffix(middle, "-v1")
	return KnownIDForm(prefix) && hasPrefix && hasSuffix && middle != "" && len(s) <= maxIDLength &&
		!strings.ContainsFunc(middle, notAlphanumeric)
}

func notAlphanumeric(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}
