package wire

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// Object is a JSON object of a request's body, read field by field. A getter notes
// what is wrong in the shared Problems and gives the zero value; it says whether
// the field was there and well-formed. null is absence.
type Object struct {
	path     string
	fields   map[string]jsontext.Value
	asked    map[string]bool
	problems *Problems
}

// ParseObject reads the body as one JSON object. When it is none at all, the
// problem is noted and an empty object comes back.
func (r *Request) ParseObject(p *Problems) *Object {
	fields, problem := map[string]jsontext.Value(nil), "the body must be a JSON object"
	if err := checkJSON(r.Body); err != nil && len(r.Body) > 0 {
		problem = "the body is not acceptable JSON: " + err.Error()
	} else if split, err := splitObject(r.Body); err == nil {
		fields, problem = split, ""
	}
	if problem != "" {
		p.Add("", "%s", problem)
		return newObject("", nil, &Problems{}) // of what can't be read nothing further is told
	}
	return newObject("", fields, p)
}

func newObject(path string, fields map[string]jsontext.Value, p *Problems) *Object {
	return &Object{path: path, fields: fields, asked: map[string]bool{}, problems: p}
}

// Field is the field's path from the body's root, for further problems.
func (o *Object) Field(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// Add notes a problem of a field of this object.
func (o *Object) Add(name, format string, args ...any) {
	o.problems.Add(o.Field(name), format, args...)
}

// Has says whether the field is there, and not null.
func (o *Object) Has(name string) bool { _, ok := o.get(name); return ok }

// Text reads a string. It may be empty; lengths are the caller's to check.
func (o *Object) Text(name string) (string, bool) {
	raw, ok := o.get(name)
	if !ok {
		return "", false
	}
	return o.text(o.Field(name), raw)
}

// Required is Text for a field that must be there and not be empty.
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

// Name is Required for a name that looks like what it is: no white space around it, none
// of the characters that resources.Showable refuses, and at most so many characters.
func (o *Object) Name(field string, most int) string {
	name := o.Required(field)
	switch {
	case name == "":
	case strings.TrimSpace(name) != name:
		o.Add(field, "must not begin or end with white space")
	case utf8.RuneCountInString(name) > most:
		o.Add(field, "must have 1 to %d characters", most)
	case !resources.Showable(name):
		o.Add(field, "must not hold control characters")
	}
	return name
}

// OneOf is Text for a field with a fixed set of values; fallback where it is absent.
func (o *Object) OneOf(name, fallback string, allowed ...string) string {
	if !o.Has(name) {
		return fallback
	}
	s, ok := o.Text(name)
	if !ok {
		return fallback
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
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
	var t resources.Time
	if err := t.UnmarshalJSON([]byte(strconv.Quote(s))); err != nil || t == 0 {
		o.Add(name, "must be a date-time (RFC 3339), for example 2030-01-31T12:00:00Z")
		return 0, false
	}
	return t, true
}

// Texts reads an array of at most so many strings. A longer one is one problem, and
// nothing of it is given.
func (o *Object) Texts(name string, most int) ([]string, bool) {
	items, more, ok := o.array(name, most)
	if more {
		o.Add(name, "must have at most %d items", most)
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

// Objects reads the first objects of an array, most of them at most: each costs many
// times its length, and a body has room for 350,000. more says that others follow; to
// refuse them is the caller's, in its own words.
func (o *Object) Objects(name string, most int) (first []*Object, more, ok bool) {
	items, more, ok := o.array(name, most)
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

// Raw gives an object as it was sent, numbers and order included (metadata).
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

// Done notes every field that nothing asked for: unknown ones.
func (o *Object) Done() {
	var unknown []string
	for name := range o.fields {
		if !o.asked[name] {
			unknown = append(unknown, name)
		}
	}
	sort.Strings(unknown)
	allowed := make([]string, 0, len(o.asked))
	for name := range o.asked {
		allowed = append(allowed, name)
	}
	sort.Strings(allowed)
	for _, name := range unknown {
		o.problems.Add(o.Field(clip(name)), "unknown field; allowed are %s", strings.Join(allowed, ", "))
	}
}

func (o *Object) get(name string) (jsontext.Value, bool) {
	o.asked[name] = true
	raw, ok := o.fields[name]
	return raw, ok && raw.Kind() != 'n'
}

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

func (o *Object) object(field string, raw jsontext.Value) (*Object, bool) {
	fields, err := splitObject(raw)
	if err != nil {
		o.problems.Add(field, "must be an object")
	}
	return newObject(field, fields, o.problems), err == nil
}

func (o *Object) array(name string, most int) (first []jsontext.Value, more, ok bool) {
	raw, ok := o.get(name)
	if !ok {
		return nil, false, false
	}
	first, more, err := splitArray(raw, most)
	if err != nil {
		o.Add(name, "must be an array")
		return nil, false, false
	}
	return first, more, true
}

// clip keeps a stranger's name short in an answer.
func clip(s string) string {
	const most = 64
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
