package resources_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestMasterKeyIsReadLineByLine checks the order of keys, and that comments and blank lines are
// skipped.
func TestMasterKeyIsReadLineByLine(t *testing.T) {
	keys := masterKeys(t, 2)
	long := base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text() + rand.Text()))
	m, err := resources.ReadMasterKey(strings.NewReader("# first\r\n" + keys[0] + "\r\n\n  " + keys[1] + "\t\n#" + long + "\n" + long))
	if err != nil {
		t.Fatal(err)
	}
	derived := m.Derive("purpose")
	if len(derived) != 3 {
		t.Fatalf("%d keys", len(derived))
	}
	for i, one := range append(slices.Clone(keys), long) {
		alone, err := resources.ReadMasterKey(strings.NewReader(one))
		if err != nil || !bytes.Equal(alone.Derive("purpose")[0], derived[i]) {
			t.Errorf("key %d: %v", i, err)
		}
	}
}

func TestMasterKeyErrorNamesTheLineAndNothingOfTheKey(t *testing.T) {
	key := masterKeys(t, 1)[0]
	for name, c := range map[string]struct{ file, says string }{
		"not base64":   {"# x\n" + key[:20] + "*" + key[20:], "line 2"},
		"url alphabet": {"-_" + key[2:], "line 1"},
		"too short":    {key + "\n" + base64.StdEncoding.EncodeToString([]byte(key[:31])), "line 2"},
		"two on one":   {key + " " + key, "line 1"},
		"empty":        {"", "no key"},
		"comments":     {"# " + key + "\n\n", "no key"},
		"zeros":        {base64.StdEncoding.EncodeToString(make([]byte, 32)), "line 1 has 1 different bytes"},
		"equal bytes":  {key + "\n" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 64)), "line 2 has 1 different bytes"},
		"a pattern":    {base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("1234567"), 9)), "not made at random"},
		"endless line": {strings.Repeat(key, 3000), "line 1"},
	} {
		_, err := resources.ReadMasterKey(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key[:8]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := resources.ReadMasterKey(iotest.ErrReader(errors.New("disk"))); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("%v", err)
	}
}

// TestDerivedKeysTellNothingOfEachOther checks that each purpose and each key has a secret of its own,
// the same one each time.
func TestDerivedKeysTellNothingOfEachOther(t *testing.T) {
	keys := masterKeys(t, 2)
	m := must.Get(resources.ReadMasterKey(strings.NewReader(strings.Join(keys, "\n"))))(t)
	seen := map[string]bool{}
	for _, purpose := range []string{resources.PurposeSigning, resources.PurposePageToken, resources.PurposeAPIKey, ""} {
		first, again := m.Derive(purpose), m.Derive(purpose)
		for i, key := range first {
			if len(key) != 32 || seen[string(key)] || !bytes.Equal(key, again[i]) {
				t.Errorf("%q: key %d", purpose, i)
			}
			seen[string(key)] = true
		}
	}
	if f := m.Fingerprints()[0]; len(f) != 16 || f != m.Fingerprints()[0] || seen[f] {
		t.Error(f)
	}
}
