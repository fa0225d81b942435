package authn

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxTokenSize is the length of the longest accepted token in bytes.
const maxTokenSize = 8 << 10

// The accepted signature algorithms. All are asymmetric.
const (
	algEdDSA = "EdDSA"
	algES256 = "ES256"
	algRS256 = "RS256"
	algPS256 = "PS256"
)

func algorithms() []string { return []string{algEdDSA, algES256, algRS256, algPS256} }

// forbiddenHeaders returns the members that name a key or change what is signed; doc.go says why
// they are refused.
func forbiddenHeaders() []string { return []string{"crit", "b64", "jku", "x5u", "jwk", "x5c"} }

var (
	errTokenSize      = errors.New("the token is longer than 8 KiB")
	errTokenForm      = errors.New("the token is not three parts of base64url")
	errHeader         = errors.New("the token's header is malformed")
	errHeaderRefused  = errors.New("the token's header has crit, b64, jku, x5u, jwk or x5c")
	errHeaderType     = errors.New("the token's typ is not JWT or at+jwt")
	errAlgorithm      = errors.New("the token's algorithm is not accepted")
	errKid            = errors.New("the token's kid is malformed")
	errTokenPayload   = errors.New("the token's payload is malformed")
	errNoIssuerMember = errors.New("the token's iss is missing or malformed")
)

// header holds the members of a token's header that select the key.
type header struct {
	alg string
	// kid is "" if the header has none; an empty one is refused.
	kid string
}

// readUnverified reads what of a token is used before its signature is checked: by it the key is found.
func readUnverified(token string) (head header, issuer string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return header{}, "", errTokenForm
	}
	// The standard library's decoder skips line breaks even when it is strict, and so one token
	// would have many spellings.
	for _, part := range parts {
		if !isBase64URL(part) {
			return header{}, "", errTokenForm
		}
	}
	if head, err = readHeader(parts[0]); err != nil {
		return header{}, "", err
	}
	issuer, err = readIssuer(parts[1])
	return head, issuer, err
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

func decodePart(part string) (map[string]jsontext.Value, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, errTokenForm
	}
	return strictObject(raw)
}

// readHeader reads the header of a token: its algorithm and its key's id.
func readHeader(part string) (header, error) {
	members, err := decodePart(part)
	if err != nil {
		return header{}, joined(errHeader, err)
	}
	for _, name := range forbiddenHeaders() {
		if _, ok := members[name]; ok {
			return header{}, errHeaderRefused
		}
	}
	if _, ok := members["typ"]; ok && !isCredentialType(members) {
		return header{}, errHeaderType
	}
	h := header{}
	if h.alg, err = stringMember(members, "alg"); err != nil || !slices.Contains(algorithms(), h.alg) {
		return header{}, errAlgorithm
	}
	if _, ok := members["kid"]; ok {
		if h.kid, err = stringMember(members, "kid"); err != nil || h.kid == "" {
			return header{}, errKid
		}
	}
	return h, nil
}

func isCredentialType(members map[string]jsontext.Value) bool {
	typ, err := stringMember(members, "typ")
	if err != nil {
		return false
	}
	typ = strings.ToLower(typ)
	return typ == "jwt" || typ == "at+jwt" || typ == "application/at+jwt"
}

func readIssuer(part string) (string, error) {
	members, err := decodePart(part)
	if err != nil {
		return "", joined(errTokenPayload, err)
	}
	issuer, err := stringMember(members, "iss")
	if err != nil || issuer == "" {
		return "", errNoIssuerMember
	}
	return issuer, nil
}
