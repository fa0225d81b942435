package resources

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"regexp"
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

var externalID = map[string]*regexp.Regexp{
	PrefixAccount: regexp.MustCompile(`^acct-[a-zA-Z0-9]+-v1$`),
	PrefixProject: regexp.MustCompile(`^proj-[a-zA-Z0-9]+-v1$`),
}

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
	var random [10]byte
	g.fill(random[:])
	var out [ulidSize]byte
	ulid(g.Now(), random[:], out[:])
	return string(out[:])
}

// ULIDs makes two of the time given, in one piece of memory.
func (g IDs) ULIDs(now time.Time) (first, second string) {
	var random [20]byte
	g.fill(random[:])
	var out [2 * ulidSize]byte
	ulid(now, random[:10], out[:ulidSize])
	ulid(now, random[10:], out[ulidSize:])
	both := string(out[:])
	return both[:ulidSize], both[ulidSize:]
}

func ulid(now time.Time, random, out []byte) {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(now.UnixMilli())<<16)
	copy(raw[6:], random)

	hi, lo := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
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
	if g.Random == rand.Reader {
		_, _ = rand.Read(b) // never fails, and unlike any reader leaves b where it is
		return
	}
	read := make([]byte, len(b))
	if _, err := io.ReadFull(g.Random, read); err != nil {
		panic("resources: no randomness: " + err.Error())
	}
	copy(b, read)
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
func KnownIDForm(prefix string) bool { return externalID[prefix] != nil }

// ValidExternalID says whether s has the specification's pattern for accounts or
// projects (`^acct-[a-zA-Z0-9]+-v1$`) and is short enough to be a plain identifier.
func ValidExternalID(prefix, s string) bool {
	re, ok := externalID[prefix]
	return ok && len(s) <= maxIDLength && re.MatchString(s)
}
