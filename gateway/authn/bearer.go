package authn

import (
	"errors"
	"strings"
)

const bearerScheme = "bearer"

var (
	errSeveralValues = errors.New("the Authorization header is sent more than once")
	errBearerForm    = errors.New("the Authorization value is not the word Bearer, one space and a token")
)

// BearerToken returns the token of the values of the Authorization header: `Bearer <token>`,
// the scheme in any case, exactly one space. No value, a blank value and a scheme without a
// token are resources.KindNoCredential; another scheme, more spaces or a second value is
// resources.KindBadCredential. The token is not checked. It is a part of the given string: of a
// string that a server lends the caller keeps a copy.
func BearerToken(values ...string) (string, error) {
	switch {
	case holdNothing(values):
		return "", absent()
	case len(values) > 1:
		return "", refused(errSeveralValues)
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, bearerScheme) || token == "" || separated(token) {
		return "", refused(errBearerForm)
	}
	return token, nil
}

// separated reports whether a value is two for some servers. It looks for one character after the other, which takes less
// than to look at each of the value once.
func separated(value string) bool {
	for _, separator := range []byte(" \t\r\n,") {
		if strings.IndexByte(value, separator) >= 0 {
			return true
		}
	}
	return false
}

// holdNothing reports whether the values of Authorization are none, or one without a
// credential.
func holdNothing(values []string) bool {
	return len(values) == 0 || len(values) == 1 && HoldsNothing(values[0])
}

// HoldsNothing reports whether a value of Authorization is blank, or `Bearer` without a token.
func HoldsNothing(authorization string) bool {
	value := strings.TrimSpace(authorization)
	return value == "" || strings.EqualFold(value, bearerScheme)
}
