package extauthz

import (
	"net/textproto"
	"slices"
	"strings"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// headers are those of an original call. There are few, so that to look through all of them costs less
// than a map.
type headers []header

// header is one that was sent.
type header struct {
	name, value string
	// raw says that it came in header_map.
	raw bool
}

// readHeaders reads both forms in which Envoy sends headers.
func readHeaders(http *auth.AttributeContext_HttpRequest) headers {
	plain, raw := http.GetHeaders(), http.GetHeaderMap().GetHeaders()
	all := make(headers, 0, len(plain)+len(raw))
	for name, value := range plain {
		all = append(all, header{name, value, false})
	}
	for _, one := range raw {
		value := one.GetValue()
		if raw := one.GetRawValue(); len(raw) > 0 {
			if value != "" && value != string(raw) {
				all = append(all, header{one.GetKey(), value, true}) // two values of one header
			}
			value = string(raw)
		}
		all = append(all, header{one.GetKey(), value, true})
	}
	return all
}

// is reports whether some server may read the header's name as this one.
func (h *header) is(name string) bool {
	if len(h.name) != len(name) {
		return false
	}
	for i := range len(name) {
		if fold(h.name[i]) != fold(name[i]) {
			return false
		}
	}
	return true
}

// fold returns a small letter for a capital one, and a hyphen for an underscore.
func fold(c byte) byte {
	switch {
	case c == '_':
		return '-'
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	}
	return c
}

// odd says that the name has underscores.
func (h *header) odd() bool { return strings.Contains(h.name, "_") }

// sent says whether the header was sent, in any spelling.
func (h headers) sent(name string) bool {
	return slices.ContainsFunc(h, func(one header) bool { return one.is(name) })
}

// sentOnce is what an identity header must be, in headers and in header_map alike.
const sentOnce = "must be sent once, in one spelling, with hyphens and without padding"

// Identity implements doors.Headers.
func (h headers) Identity(name string) (value, problem string) {
	var plain, raw int
	for i := range h {
		one := &h[i]
		if !one.is(name) {
			continue
		}
		if plain+raw == 0 {
			value = one.value
		}
		if one.raw {
			raw++
		} else {
			plain++
		}
		padded := one.value != textproto.TrimString(one.value) && (name != "Authorization" || !authn.HoldsNothing(one.value))
		if one.value != value || padded || one.odd() {
			problem = sentOnce
		}
	}
	if plain > 1 || raw > 1 {
		problem = sentOnce
	}
	if problem == "" && value == "" && plain+raw > 0 && name == "Idempotency-Key" { // its client expects a repeat to be recognized
		problem = "must have a value, or not be sent"
	}
	return value, problem
}

// Values implements doors.Headers.
func (h headers) Values(name string) (values []string, odd bool) {
	for i := range h {
		if h[i].is(name) {
			values = append(values, h[i].value)
			odd = odd || h[i].odd()
		}
	}
	return values, odd
}

// credential returns the values of a credential's header, and notes a problem with it.
func (h headers) credential(name string, problems *[]resources.Problem) []string {
	value, problem := h.Identity(name)
	if problem != "" {
		*problems = append(*problems, resources.Problem{Field: name, Text: problem})
	}
	if !h.sent(name) {
		return nil
	}
	return []string{value}
}
