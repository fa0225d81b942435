package authn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
)

// lastSecond is the end of the year 9999 in Unix seconds, the last date that is accepted.
const lastSecond = 253402300799

// Claims are the claims of a token whose signature, issuer, audience and times have been
// checked.
type Claims struct {
	// Issuer is the `iss`, whose key checked the signature.
	Issuer string
	// Subject is the `sub`. It passes resources.ValidSubject.
	Subject string
	// Email is "" without an address. It counts only with EmailVerified.
	Email string
	// EmailVerified is true only for the JSON value true.
	EmailVerified bool
	// Scope is the words of `scope`. They are not yet bounded by the issuer's scopes.
	Scope []string
	// ExpiresAt is `exp`. The token is accepted for 30 seconds more.
	ExpiresAt resources.Time
}

// payload holds the claims of a token, strictly read, with those that only its check needs. It implements jwt.Claims.
type payload struct {
	Claims
	audience                     []string
	expires, notBefore, issuedAt *jwt.NumericDate
	// client is never nil; malformed says why it has no name.
	client    *resources.Client
	malformed error
}

var errMember = errors.New("a claim has the wrong type or is out of range")

// UnmarshalJSON reads the claims under their exact names.
func (p *payload) UnmarshalJSON(raw []byte) error {
	members, err := strictObject(raw)
	if err != nil {
		return err
	}
	read, scope := payload{}, ""
	for _, claim := range []struct {
		name   string
		target *string
	}{{"iss", &read.Issuer}, {"sub", &read.Subject}, {"scope", &scope}} {
		if *claim.target, err = stringMember(members, claim.name); err != nil {
			return err
		}
	}
	for _, claim := range []struct {
		name string
		date **jwt.NumericDate
	}{{"exp", &read.expires}, {"nbf", &read.notBefore}, {"iat", &read.issuedAt}} {
		if *claim.date, err = dateMember(members, claim.name); err != nil {
			return err
		}
	}
	read.Scope = strings.FieldsFunc(scope, func(r rune) bool { return r == ' ' })
	if read.expires != nil {
		read.ExpiresAt = resources.At(read.expires.Time)
	}
	if read.audience, err = listMember(members, "aud"); err != nil {
		return err
	}
	read.client, read.malformed = readClient(members)
	read.client.Issuer, read.client.Scopes = read.Issuer, read.Scope
	// A malformed e-mail claim counts as none: a user's profile refuses no token.
	read.Email, _ = stringMember(members, "email")
	read.EmailVerified = string(members["email_verified"]) == "true"
	*p = read
	return nil
}

// bounds returns when the token is valid, from the first time to just before the second, by the
// parser's rules for exp, nbf and iat.
func (p *payload) bounds() (start, until time.Time) {
	for _, begins := range []*jwt.NumericDate{p.notBefore, p.issuedAt} {
		if begins != nil && begins.Add(-leeway).After(start) {
			start = begins.Add(-leeway)
		}
	}
	return start, p.expires.Add(leeway)
}

// stringMember returns a string, "" if the member is missing. null is not a string.
func stringMember(members map[string]jsontext.Value, name string) (string, error) {
	raw, ok := members[name]
	if !ok {
		return "", nil
	}
	return text(name, raw)
}

// text reads the JSON string of a member.
func text(name string, raw jsontext.Value) (string, error) {
	unquoted, err := jsontext.AppendUnquote(nil, raw)
	if raw.Kind() != '"' || err != nil {
		return "", fmt.Errorf("%s: %w", name, errMember)
	}
	return string(unquoted), nil
}

// listMember returns a string or a list of strings as a list.
func listMember(members map[string]jsontext.Value, name string) ([]string, error) {
	if members[name].Kind() != '[' {
		one, err := stringMember(members, name)
		if err != nil || one == "" {
			return nil, err
		}
		return []string{one}, nil
	}
	var list []jsontext.Value
	if err := json.Unmarshal(members[name], &list); err != nil {
		return nil, fmt.Errorf("%s: %w", name, errMember)
	}
	out := make([]string, len(list))
	for i, raw := range list {
		var err error
		if out[i], err = text(name, raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dateMember returns a NumericDate in whole seconds, nil if the member is missing.
func dateMember(members map[string]jsontext.Value, name string) (*jwt.NumericDate, error) {
	raw, ok := members[name]
	if !ok {
		return nil, nil
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if raw.Kind() != '0' || err != nil || seconds < 0 || seconds > lastSecond {
		return nil, fmt.Errorf("%s: %w", name, errMember)
	}
	return jwt.NewNumericDate(time.Unix(int64(seconds), 0)), nil
}

// GetExpirationTime implements jwt.Claims.
func (p *payload) GetExpirationTime() (*jwt.NumericDate, error) { return p.expires, nil }

// GetNotBefore implements jwt.Claims.
func (p *payload) GetNotBefore() (*jwt.NumericDate, error) { return p.notBefore, nil }

// GetIssuedAt implements jwt.Claims.
func (p *payload) GetIssuedAt() (*jwt.NumericDate, error) { return p.issuedAt, nil }

// GetAudience implements jwt.Claims.
func (p *payload) GetAudience() (jwt.ClaimStrings, error) { return p.audience, nil }

// GetIssuer implements jwt.Claims.
func (p *payload) GetIssuer() (string, error) { return p.Issuer, nil }

// GetSubject implements jwt.Claims.
func (p *payload) GetSubject() (string, error) { return p.Subject, nil }
