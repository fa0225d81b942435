package resources_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestULIDSortsByItsMillisecond checks the order of identifiers and their form: 26 lower-case
// characters of Crockford's alphabet.
func TestULIDSortsByItsMillisecond(t *testing.T) {
	moment := time.UnixMilli(1_790_000_000_000)
	ids := resources.IDs{Now: func() time.Time { return moment }, Random: rand.Reader}
	last := ""
	for range 1000 {
		id := ids.ULID()
		if len(id) != 26 || strings.Trim(id, alphabet) != "" || id <= last {
			t.Fatalf("%q after %q", id, last)
		}
		last, moment = id, moment.Add(time.Millisecond)
	}
}

// TestULIDIsTheStandardOne checks the time in the first ten characters and the randomness in the
// others, most significant bits first.
func TestULIDIsTheStandardOne(t *testing.T) {
	for want, random := range map[string]byte{"01arynj9p40000000000000000": 0, "01arynj9p4zzzzzzzzzzzzzzzz": 0xff} {
		ids := resources.IDs{Now: func() time.Time { return time.UnixMilli(1469918176964 - 1469918176964%16) }, Random: bytes.NewReader(bytes.Repeat([]byte{random}, 10))}
		got := ids.ULID()
		if got[10:] != want[10:] {
			t.Errorf("%s, want randomness %s", got, want[10:])
		}
	}
	// The specification's own example: 1469918176385 is 01ARYZ6S41.
	ids := resources.IDs{Now: func() time.Time { return time.UnixMilli(1469918176385) }, Random: rand.Reader}
	if got := ids.ULID(); got[:10] != "01aryz6s41" {
		t.Errorf("%s", got)
	}
	if id := ids.New(resources.PrefixAccount); !resources.ValidExternalID(resources.PrefixAccount, id) || !resources.ValidID(id) {
		t.Errorf("%s is not an account's id", id)
	}
}

func TestUUIDIsOfVersionFour(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	ids, seen := idsFrom(rand.Reader), map[string]bool{}
	for range 1000 {
		id := ids.UUID()
		if !form.MatchString(id) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}

func TestNoIDIsMadeWithoutRandomness(t *testing.T) {
	for name, newID := range map[string]func(resources.IDs) string{"ULID": resources.IDs.ULID, "UUID": resources.IDs.UUID} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s was made", name)
				}
			}()
			newID(idsFrom(iotest.ErrReader(errors.New("none"))))
		}()
	}
}

func TestPlainIdentifiers(t *testing.T) {
	for _, s := range []string{"a", "A.b_c@d-9", "user-bob-v1", "ada@example.com", "..", "-", strings.Repeat("x", 128)} {
		if !resources.ValidID(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", strings.Repeat("x", 129), "a b", "a/b", "a|b", "a:b", "a\x00", "a\n", "é", "ａ", "a%2f", "*", "a\\b", "\u202e", "\xff"} {
		if resources.ValidID(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestExternalIdentifiersHaveTheirPattern(t *testing.T) {
	for prefix, ids := range map[string][]string{"acct": {"acct-a-v1", "acct-Z9-v1"}, "proj": {"proj-0-v1"}} {
		for _, id := range ids {
			if !resources.ValidExternalID(prefix, id) {
				t.Errorf("%s %q is refused", prefix, id)
			}
		}
	}
	for _, id := range []string{"", "acct--v1", "acct-a-v2", "acct-a-v1\n", "\nacct-a-v1", "Acct-a-v1", "acct-a_b-v1", "proj-a-v1", "acct-a-v1-v1", "acct-é-v1", "acct-" + strings.Repeat("a", 128) + "-v1"} {
		if resources.ValidExternalID("acct", id) {
			t.Errorf("%q is accepted", id)
		}
	}
	if resources.ValidExternalID("user", "user-a-v1") {
		t.Error("a prefix without a pattern accepts")
	}
}
