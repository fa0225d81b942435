package wire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// Object is a JSON object of a request's body, read field by field. A getter adds the problem of
// its field to Problems and returns the zero value. It says whether the field is present and
// well-formed; null counts as absent.
type Object struct {
	path     string
	fields   map[string]jsontext.Value
	read     map[string]bool // the names that a getter was called with
	problems *Problems
}

// ParseObject parses the body as one JSON object. For any other body ParseObject adds that problem
// and returns an empty object. Nobody sees the object's problems.
func (r *Request) ParseObject(p *Problems) *Object {
	fields, problem := map[string]jsontext.Value(nil), "the body must be a JSON object"
	if err := checkJSON(r.Body); err != nil && len(r.Body) > 0 {
		problem = "the body is not acceptable JSON: " + err.Error()
	} else if split, err := splitObject(r.Body); err == nil {
		fields, problem = split, ""
	}
	if problem != "" {
		p.Add("", "%s", problem)
		return newObject("", nil, &Problems{})
	}
	return newObject("", fields, p)
}

// newObject makes an object with those fields at that path of the body.
func newObject(path string, fields map[string]jsontext.Value, p *Problems) *Object {
	return &Object{path: path, fields: fields, read: map[string]bool{}, problems: p}
}

// Field returns the path of the field from the root of the body.
func (o *Object) Field(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// Add adds a problem of a field of this object.
func (o *Object) Add(name, format string, args ...any) {
	o.problems.Add(o.Field(name), format, args...)
}

// Has says whether the field is present and not null.
func (o *Object) Has(name string) bool { _, ok := o.get(name); return ok }

// Text reads a string, which may be empty and of any length.
func (o *Object) Text(name string) (string, bool) {
	raw, ok := o.get(name)
	if !ok {
		return "", false
	}
	return o.text(o.Field(name), raw)
}

// Required reads a string that must be present and not empty.
func (o *Object) Required(name string) string {
	s, ok := o.Text(name)
	switch {
	case !o.Has(name):
		o.Add(name, "is missing")
	case ok && s == "":
		o.Add(name, "must not be empty")
	}
	return s
}

// Name reads a required name of 1 to limit characters, without white space around it and
// without the characters that resources.Showable refuses.
func (o *Object) Name(field string, limit int) string {
	name := o.Required(field)
	switch {
	case name == "":
	case strings.TrimSpace(name) != name:
		o.Add(field, "must not begin or end with white space")
	case utf8.RuneCountInString(name) > limit:
		o.Add(field, "must have 1 to %d characters", limit)
	case !resources.Showable(name):
		o.Add(field, "must not hold control characters")
	}
	return name
}

// OneOf reads a string that must be one of allowed. It returns fallback for an absent field and
// for a wrong one.
func (o *Object) OneOf(name, fallback string, allowed ...string) string {
	if !o.Has(name) {
		return fallback
	}
	s, ok := o.Text(name)
	if !ok {
		return fallback
	}
	if slices.Contains(allowed, s) {
		return s
	}
	o.Add(name, "must be one of %s", strings.Join(allowed, ", "))
	return fallback
}

// Int reads a whole number without fraction or exponent.
func (o *Object) Int(name string) (int64, bool) {
	raw, ok := o.get(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if raw.Kind() != '0' || err != nil {
		o.Add(name, "must be a whole number")
		return 0, false
	}
	return n, true
}

// Bool reads true or false.
func (o *Object) Bool(name string) (value, ok bool) {
	raw, ok := o.get(name)
	if !ok {
		return false, false
	}
	if k := raw.Kind(); k != 't' && k != 'f' {
		o.Add(name, "must be true or false")
		return false, false
	}
	return raw.Kind() == 't', true
}

// Time reads an RFC 3339 date-time.
func (o *Object) Time(name string) (resources.Time, bool) {
	s, ok := o.Text(name)
	if !ok {
		return 0, false
	}
	t, problem := parseTime(s)
	if problem != "" {
		o.Add(name, "%s", problem)
		return 0, false
	}
	return t, true
}

// parseTime parses an RFC 3339 date-time. problem describes a wrong one to callers, "" for none.
func parseTime(s string) (t resources.Time, problem string) {
	switch err := t.UnmarshalJSON([]byte(strconv.Quote(s))); {
	case err != nil || s == "":
		return 0, "must be a date-time (RFC 3339), for example 2030-01-31T12:00:00Z"
	case t == 0:
		return 0, "must not be 1970-01-01T00:00:00Z, which stands for no time"
	}
	return t, ""
}

// Texts reads an array of at most limit strings. It returns nothing of a longer one, which is
// one problem.
func (o *Object) Texts(name string, limit int) ([]string, bool) {
	items, more, ok := o.array(name, limit)
	if more {
		o.Add(name, "must have at most %d items", limit)
	}
	if more || !ok {
		return nil, false
	}
	out := make([]string, 0, len(items))
	for i, raw := range items {
		s, good := o.text(fmt.Sprintf("%s[%d]", o.Field(name), i), raw)
		ok = ok && good
		out = append(out, s)
	}
	return out, ok
}

// Object reads a nested object.
func (o *Object) Object(name string) (*Object, bool) {
	raw, ok := o.get(name)
	if !ok {
		return newObject(o.Field(name), nil, o.problems), false
	}
	return o.object(o.Field(name), raw)
}

// Objects reads the first objects of an array, at most limit of them. more says whether others
// follow; the caller refuses these. The limit bounds the work: a body has room for 350,000 objects.
func (o *Object) Objects(name string, limit int) (first []*Object, more, ok bool) {
	items, more, ok := o.array(name, limit)
	if !ok {
		return nil, false, false
	}
	out := make([]*Object, 0, len(items))
	for i, raw := range items {
		item, good := o.object(fmt.Sprintf("%s[%d]", o.Field(name), i), raw)
		ok = ok && good
		out = append(out, item)
	}
	return out, more, ok
}

// Raw reads an object and returns it byte for byte.
func (o *Object) Raw(name string) ([]byte, bool) {
	raw, ok := o.get(name)
	if !ok {
		return nil, false
	}
	if raw.Kind() != '{' {
		o.Add(name, "must be an object")
		return nil, false
	}
	return raw, true
}

// Done adds a problem for every field that no getter has read. It is called after all getters.
func (o *Object) Done() {
	var unknown []string
	for name := range o.fields {
		if !o.read[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	allowed := strings.Join(slices.Sorted(maps.Keys(o.read)), ", ")
	for _, name := range unknown {
		o.problems.Add(o.Field(clip(name)), "unknown field; allowed are %s", allowed)
	}
}

// get returns the raw value of a field that is present and not null.
func (o *Object) get(name string) (jsontext.Value, bool) {
	o.read[name] = true
	raw, ok := o.fields[name]
	return raw, ok && raw.Kind() != 'n'
}

// text decodes a raw value as a string.
func (o *Object) text(field string, raw jsontext.Value) (string, bool) {
	if raw.Kind() != '"' {
		o.problems.Add(field, "must be a string")
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		o.problems.Add(field, "must be a string")
		return "", false
	}
	return string(s), true
}

// object decodes a raw value as an object.
func (o *Object) object(field string, raw jsontext.Value) (*Object, bool) {
	fields, err := splitObject(raw)
	if err != nil {
		o.problems.Add(field, "must be an object")
	}
	return newObject(field, fields, o.problems), err == nil
}

// array reads the first items of an array, at most limit of them, and whether others follow.
func (o *Object) array(name string, limit int) (first []jsontext.Value, more, ok bool) {
	raw, ok := o.get(name)
	if !ok {
		return nil, false, false
	}
	first, more, err := splitArray(raw, limit)
	if err != nil {
		o.Add(name, "must be an array")
		return nil, false, false
	}
	return first, more, true
}

// clip shortens a name that the client chose to 64 characters.
func clip(s string) string {
	const limit = 64
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
