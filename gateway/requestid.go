package gateway

import "github.com/portcullis-authz/portcullis/resources"

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

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
