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

// ServicePrefix begins the subject of a service's token, and of no user's.
const ServicePrefix = "service-"

// IDRule describes to callers what ValidID accepts.
const IDRule = "must be 1 to 128 characters of [A-Za-z0-9._@-]"

// maxIDLength bounds a plain identifier in bytes (API contract, 1).
const maxIDLength = 128

// ulidSize is the length of a ULID in characters.
const ulidSize = 26

// ulidTime is how many of its characters are the time, ulidRandom how many of its bytes are random.
const (
	ulidTime   = 10
	ulidRandom = 10
)

// crockford is the alphabet of a ULID, in lower case.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// IDs is a maker of identifiers, from a clock and a source of randomness.
type IDs struct {
	// Now gives the first 48 bits of an identifier, in milliseconds.
	Now func() time.Time
	// Random gives the other 80 bits. Every method panics when it fails, since identifiers
	// could repeat.
	Random io.Reader
}

// New makes an external identifier, `<prefix>-<ULID>-v1`.
func (g IDs) New(prefix string) string {
	return prefix + "-" + g.ULID() + "-v1"
}

// ULID makes an identifier of 26 lower-case characters. Identifiers sort by the millisecond in
// which they were made.
func (g IDs) ULID() string {
	var raw [ulidRandom]byte // after 48 bits of time
	g.fill(raw[:])
	hi := uint64(g.Now().UnixMilli())<<16 | uint64(binary.BigEndian.Uint16(raw[:]))
	lo := binary.BigEndian.Uint64(raw[2:])
	var out [ulidSize]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// MadeAt returns when New made an identifier with the prefix; ok is false for one of another form.
func MadeAt(prefix, id string) (moment Time, ok bool) {
	middle, hasPrefix := strings.CutPrefix(id, prefix+"-")
	middle, hasSuffix := strings.CutSuffix(middle, "-v1")
	if !hasPrefix || !hasSuffix {
		return 0, false
	}
	return ULIDMadeAt(middle)
}

// ULIDMadeAt returns when ULID made a text; ok is false for one of another form.
func ULIDMadeAt(text string) (moment Time, ok bool) {
	if len(text) != ulidSize || text[0] > '7' {
		return 0, false
	}
	for i := range len(text) {
		digit := strings.IndexByte(crockford, text[i])
		if digit < 0 {
			return 0, false
		}
		if i < ulidTime {
			moment = moment<<5 | Time(digit)
		}
	}
	return moment, true
}

// UUID makes a random UUID (RFC 9562, version 4), the internal id of a user.
func (g IDs) UUID() string {
	var raw [16]byte
	g.fill(raw[:])
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	h := hex.EncodeToString(raw[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// fill fills b with random bytes.
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

// UserIDRule describes to callers what ValidUserID accepts.
const UserIDRule = IDRule + ", not begin with " + ServicePrefix + ", which is for services, and not be ., .., accounts or projects in any letters, which no path can hold"

// ValidUserID reports whether s can be the external id of a new user. It is a plain identifier, is not a service's, and
// fits into every path with a user.
func ValidUserID(s string) bool {
	return ValidID(s) && !strings.HasPrefix(s, ServicePrefix) && ValidPathSegment(s)
}

// KnownIDForm says whether ValidExternalID knows the pattern of ids with the prefix.
func KnownIDForm(prefix string) bool { return prefix == PrefixAccount || prefix == PrefixProject }

// ValidExternalID says whether s is a plain identifier of the specification's pattern for
// accounts or projects, `^<prefix>-[a-zA-Z0-9]+-v1$`.
func ValidExternalID(prefix, s string) bool {
	middle, hasPrefix := strings.CutPrefix(s, prefix+"-")
	middle, hasSuffix := strings.CutSuffix(middle, "-v1")
	return KnownIDForm(prefix) && hasPrefix && hasSuffix && middle != "" && len(s) <= maxIDLength &&
		!strings.ContainsFunc(middle, notAlphanumeric)
}

func notAlphanumeric(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}
