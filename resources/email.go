package resources

import (
	"net/mail"
	"strings"
)

// Bounds of an e-mail address in bytes (RFC 5321).
const (
	maxEmail     = 254
	maxLocalPart = 64
	maxLabel     = 63
)

// EmailRule describes to callers what ValidEmail accepts.
const EmailRule = "must be one e-mail address in ASCII, at most 254 characters, such as ada@example.com"

// ValidEmail accepts one bare ASCII address. It refuses display names, comments, quoted local
// parts and folded white space, which net/mail takes, since two systems could read such a text
// as two addresses.
func ValidEmail(s string) bool {
	if len(s) > maxEmail || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Name != "" || parsed.Address != s {
		return false
	}
	index := strings.LastIndexByte(s, '@')
	return index <= maxLocalPart && plainLocalPart(s[:index]) && validMailDomain(s[index+1:])
}

// plainLocalPart refuses a local part that some mail software reads as another address: a
// quoted text, a route through another host (a%other.example, other.example!a), an encoded
// word (=?utf-8?q?…?=).
func plainLocalPart(s string) bool {
	return !strings.ContainsAny(s, `"%!`) && !strings.Contains(s, "=?")
}

// validMailDomain accepts a host name with a dot, and localhost. Other bare words are mistyped
// domains.
func validMailDomain(s string) bool {
	if !strings.Contains(s, ".") && FoldASCII(s) != "localhost" {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, notHostRune) {
			return false
		}
	}
	return true
}

func notHostRune(r rune) bool { return r != '-' && notAlphanumeric(r) }
