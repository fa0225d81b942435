package authn

import (
	"errors"
	"strings"
)

const bearerScheme = "bearer"

var (
	errSeveralValues = errors.New("several Authorization values")
	errBearerForm    = errors.New("the Authorization value is not the word Bearer, one space and a token")
)

// BearerToken takes the token out of the values of the Authorization header:
// `Bearer <token>`, the scheme in any case, exactly one space. No value or a
// blank one, and a scheme with nothing behind it, is resources.KindNoCredential;
// another scheme, more spaces or a second value is resources.KindBadCredential. The
// token is not looked into, and is a part of the given string (copy what a server lent).
func BearerToken(values ...string) (string, error) {
	switch {
	case bearsNothing(values):
		return "", absent()
	case len(values) > 1:
		return "", refused(errSeveralValues)
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, bearerScheme) || token == "" || strings.ContainsAny(token, " \t\r\n,") {
		return "", refused(errBearerForm)
	}
	return token, nil
}

// bearsNothing says whether the values of Authorization are none, or one that holds no
// credential.
func bearsNothing(values []string) bool {
	return len(values) == 0 || len(values) == 1 && HoldsNothing(values[0])
}

// HoldsNothing says whether a value of Authorization is blank, or has nothing behind `Bearer`.
func HoldsNothing(authorization string) bool {
	value := strings.TrimSpace(authorization)
	return value == "" || strings.EqualFold(value, bearerScheme)
}
