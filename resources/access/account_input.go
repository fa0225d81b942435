package access

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Bounds of texts, in characters.
const (
	maxName        = 255
	maxDescription = 1024
)

// requiredName reads the field name, which must be there; it is trimmed.
func requiredName(o *wire.Object, p *wire.Problems) string {
	s := o.Required("name")
	if s == "" {
		return ""
	}
	return checkName(p, o.Field("name"), s)
}

// optionalName reads the field name, which may be left out; one that is there is
// trimmed and not empty.
func optionalName(o *wire.Object, p *wire.Problems) (string, bool) {
	s, ok := o.Text("name")
	if !ok {
		return "", false
	}
	return checkName(p, o.Field("name"), s), true
}

func checkName(p *wire.Problems, field, s string) string {
	s = strings.TrimSpace(s)
	if !resources.ValidName(s) {
		p.Add(field, resources.NameRule)
	}
	return s
}

// checkPatternID holds an account's or a project's id to the specification's pattern.
func checkPatternID(p *wire.Problems, field, prefix, s string) {
	if !resources.ValidExternalID(prefix, s) {
		p.Add(field, "must match ^%s-[a-zA-Z0-9]+-v1$ and be at most 128 characters", prefix)
	}
}

// checkUserID holds the external id of a new user to the form of one. A subject that
// begins like a service's would be read as a service.
func checkUserID(p *wire.Problems, field, s string) {
	switch {
	case !resources.ValidID(s):
		p.Add(field, resources.IDRule)
	case strings.HasPrefix(s, resources.ServicePrefix):
		p.Add(field, "must not begin with %s: services do", resources.ServicePrefix)
	}
}

func checkEmail(p *wire.Problems, field, s string) {
	if !resources.ValidEmail(s) {
		p.Add(field, resources.EmailRule)
	}
}

// noQuery notes every query parameter of a route that has none.
func noQuery(r *wire.Request, p *wire.Problems) { r.ParseQuery(p).Done() }
