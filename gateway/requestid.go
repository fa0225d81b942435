package gateway

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxRequestID bounds in bytes a request id that is taken over from a caller.
const maxRequestID = 128

// ValidRequestID says whether a request id is taken over from a caller: it matches
// ^[A-Za-z0-9._-]{1,128}$ (API contract, 1) and holds no credential, since it is passed on and
// logged.
func ValidRequestID(id string) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c != '.' && c != '-' && c != '_' && !alphanumeric(c) {
			return false
		}
	}
	return !resources.HoldsCredential(id)
}

// maxAnyRequestID bounds in bytes a request id of any form.
const maxAnyRequestID = 1 << 10

// keepRequestID takes over a request id that is visible ASCII text and holds no credential.
func (x *exchange) keepRequestID() {
	id := string(x.raw.Request.Header.Peek("X-Request-ID"))
	if len(id) == 0 || len(id) > maxAnyRequestID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) || resources.HoldsCredential(id) {
		return
	}
	x.record.RequestID = id
	x.raw.Response.Header.Set("X-Request-ID", id)
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
