package rolecache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

// factsVersion is raised with each change in loading or rendering facts that the types of the
// values do not show: no release may read values loaded differently.
const factsVersion = 2

// factsFormat returns the format in the name of each value in the second level.
func factsFormat() string {
	return formatOf(factsVersion, reflect.TypeFor[resources.Subject](), reflect.TypeFor[string]())
}

// formatOf names a version of the facts and the structure of the types in which they are stored.
func formatOf(version int, stored ...reflect.Type) string {
	h := sha256.New()
	for _, t := range stored {
		describe(h, t)
	}
	return strconv.Itoa(version) + "-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// describe writes what the JSON of a type depends on: names, kinds, fields and their tags.
func describe(w io.Writer, t reflect.Type) {
	_, _ = fmt.Fprintf(w, "%s %s{", t.Name(), t.Kind()) // a hash never fails
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		describe(w, t.Elem())
	case reflect.Map:
		describe(w, t.Key())
		describe(w, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			tag := f.Tag.Get("json")
			if tag == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			_, _ = fmt.Fprintf(w, "%s %q %t ", f.Name, tag, f.Anonymous)
			describe(w, f.Type)
		}
	default: // it has no parts
	}
	_, _ = io.WriteString(w, "}")
}
