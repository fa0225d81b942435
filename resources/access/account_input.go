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

// requiredName reads the field name, which must be present, and trims it.
func requiredName(o *wire.Object, p *wire.Problems) string {
	s := o.Required("name")
	if s == "" {
		return ""
	}
	return checkName(p, o.Field("name"), s)
}

// optionalName reads the field name, if it is present, and trims it. It must not be empty.
func optionalName(o *wire.Object, p *wire.Problems) (string, bool) {
	s, ok := o.Text("name")
	if !ok {
		return "", false
	}
	return checkName(p, o.Field("name"), s), true
}

// checkName returns the trimmed name and adds a problem to a wrong one.
func checkName(p *wire.Problems, field, s string) string {
	s = strings.TrimSpace(s)
	if !resources.ValidName(s) {
		p.Add(field, resources.NameRule)
	}
	return s
}

// checkPatternID adds a problem to an account's or a project's id that has not the
// specification's pattern.
func checkPatternID(p *wire.Problems, field, prefix, s string) {
	if !resources.ValidExternalID(prefix, s) {
		p.Add(field, "must match ^%s-[a-zA-Z0-9]+-v1$ and be at most 128 characters", prefix)
	}
}

// checkUserID adds a problem to an external id that a new user can't have.
func checkUserID(p *wire.Problems, field, s string) {
	if !resources.ValidUserID(s) {
		p.Add(field, resources.UserIDRule)
	}
}

// checkEmail adds a problem to a wrong e-mail address.
func checkEmail(p *wire.Problems, field, s string) {
	if !resources.ValidEmail(s) {
		p.Add(field, resources.EmailRule)
	}
}

// noQuery adds a problem for every parameter in the query of a route that takes none.
func noQuery(r *wire.Request, p *wire.Problems) { r.ParseQuery(p).Done() }
