package rolecache_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// knownFormat is the format of the values in the second level: factsVersion and a hash of their types.
const knownFormat = "2-b5745d638012"

// TestFormatIsKnown guarantees that nobody changes the types of shared values by accident: a release must not read
// values of another format.
func TestFormatIsKnown(t *testing.T) {
	got := strings.Split(rolecache.KeyName("s", "g", "a", 1, "u"), ":")[1]
	if got != knownFormat {
		t.Errorf("the values that replicas share have the format %s, and not %s: raise factsVersion, and write the new format here", got, knownFormat)
	}
}

// TestFormatTellsTypesApart guarantees that types with different JSON have different formats.
func TestFormatTellsTypesApart(t *testing.T) {
	type inner struct{ A int }
	type other struct{ A string }
	seen := map[string]string{}
	for name, f := range map[string]string{
		"another version": rolecache.FormatOf(2, reflect.TypeFor[struct{ A int }]()),
		"a field":         rolecache.FormatOf(1, reflect.TypeFor[struct{ A int }]()),
		"another name":    rolecache.FormatOf(1, reflect.TypeFor[struct{ B int }]()),
		"another type":    rolecache.FormatOf(1, reflect.TypeFor[struct{ A int64 }]()),
		"a named type":    rolecache.FormatOf(1, reflect.TypeFor[struct{ A resources.Time }]()),
		"another tag": rolecache.FormatOf(1, reflect.TypeFor[struct {
			A int `json:"a"`
		}]()),
		"a field more":     rolecache.FormatOf(1, reflect.TypeFor[struct{ A, B int }]()),
		"in a slice":       rolecache.FormatOf(1, reflect.TypeFor[struct{ A []inner }]()),
		"in its element":   rolecache.FormatOf(1, reflect.TypeFor[struct{ A []other }]()),
		"behind a pointer": rolecache.FormatOf(1, reflect.TypeFor[struct{ A *inner }]()),
		"in a map":         rolecache.FormatOf(1, reflect.TypeFor[struct{ A map[string]inner }]()),
		"in its key":       rolecache.FormatOf(1, reflect.TypeFor[struct{ A map[int]inner }]()),
		"embedded":         rolecache.FormatOf(1, reflect.TypeFor[struct{ inner }]()),
	} {
		if before, ok := seen[f]; ok {
			t.Errorf("%q and %q have the same format", name, before)
		}
		seen[f] = name
	}
	if rolecache.FormatOf(1, reflect.TypeFor[struct{ A int }]()) != rolecache.FormatOf(1, reflect.TypeFor[struct {
		A int
		B int `json:"-"`
		c int
	}]()) {
		t.Error("a field that is not stored changes the format")
	}
}

// TestValuesOfAnotherReleaseAreNotRead guarantees that the cache reads no values of another format, though they are
// authentic.
func TestValuesOfAnotherReleaseAreNotRead(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	broken, _ := w.replica(s, secret)
	broken.SetFormat("0-broken")
	u := w.users[user]
	u.Status = "SUSPENDED"
	w.users[user] = u // what a broken release loads, at the same revision
	if got := ask(t, broken).Subject.UserStatus; got != "SUSPENDED" {
		t.Fatal(got)
	}
	u.Status = "ACTIVE"
	w.users[user] = u
	mended, seen := w.replica(s, secret)
	if got := ask(t, mended).Subject.UserStatus; got != "ACTIVE" || !slices.Equal(*seen, []string{"miss"}) {
		t.Errorf("%s, observed %v", got, *seen)
	}
}
