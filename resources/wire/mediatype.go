package wire

import (
	"mime"
	"strings"
)

const mediaJSON = "application/json"

// MediaType reports whether the value of a Content-Type is JSON, and whether it names no charset but UTF-8. A value that
// servers read differently is not JSON.
func MediaType(value string) (json, utf8 bool) {
	if value == mediaJSON { // what most clients send
		return true, true
	}
	kind, parameters, err := mime.ParseMediaType(value)
	if err != nil || kind != mediaJSON {
		return false, false
	}
	charset, named := parameters["charset"]
	return true, !named || strings.EqualFold(charset, "utf-8")
}
