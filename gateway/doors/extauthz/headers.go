package extauthz

import (
	"net/textproto"
	"strings"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/resources"
)

// headers are those of an original call, by their names in small letters with hyphens.
type headers map[string][]header

// header is one that was sent.
type header struct {
	name, value string
	// raw says that it came in header_map.
	raw bool
}

// readHeaders reads both forms in which Envoy tells headers.
func readHeaders(http *auth.AttributeContext_HttpRequest) headers {
	all := headers{}
	add := func(name, value string, raw bool) {
		folded := fold(name)
		all[folded] = append(all[folded], header{name, value, raw})
	}
	for name, value := range http.GetHeaders() {
		add(name, value, false)
	}
	for _, one := range http.GetHeaderMap().GetHeaders() {
		value := one.GetValue()
		if raw := one.GetRawValue(); len(raw) > 0 {
			if value != "" && value != string(raw) {
				add(one.GetKey(), value, true) // two values of one header
			}
			value = string(raw)
		}
		add(one.GetKey(), value, true)
	}
	return all
}

// fold returns a header's name as every server may read it.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// sentOnce is what an identity header must be, in headers and in header_map alike.
const sentOnce = "must be sent once, in one spelling, with hyphens and without padding"

// Identity implements doors.Headers.
func (h headers) Identity(name string) (value, problem string) {
	sent := h[fold(name)]
	if len(sent) == 0 {
		return "", ""
	}
	value = sent[0].value
	var plain, raw int
	for _, one := range sent {
		if one.raw {
			raw++
		} else {
			plain++
		}
		if one.value != value || one.value != textproto.TrimString(one.value) || strings.Contains(one.name, "_") {
			problem = sentOnce
		}
	}
	if plain > 1 || raw > 1 {
		problem = sentOnce
	}
	return value, problem
}

// Values implements doors.Headers.
func (h headers) Values(name string) (values []string, odd bool) {
	for _, one := range h[fold(name)] {
		values = append(values, one.value)
		odd = odd || strings.Contains(one.name, "_")
	}
	return values, odd
}

// credential returns the values of a credential's header, and notes a problem with it.
func (h headers) credential(name string, problems *[]resources.Problem) []string {
	value, problem := h.Identity(name)
	if problem != "" {
		*problems = append(*problems, resources.Problem{Field: name, Text: problem})
	}
	if len(h[fold(name)]) == 0 {
		return nil
	}
	return []string{value}
}
