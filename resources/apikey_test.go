package resources_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// alphabet holds the characters of a key.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// masterKeys returns n random keys in base64.
func masterKeys(t testing.TB, n int) []string {
	t.Helper()
	out := make([]string, n)
	for i := range out {
		key := make([]byte, 32)
		must.Get(rand.Read(key))(t)
		out[i] = base64.StdEncoding.EncodeToString(key)
	}
	return out
}

func apiKeys(t testing.TB, master ...string) resources.APIKeys {
	t.Helper()
	m := must.Get(resources.ReadMasterKey(strings.NewReader(strings.Join(master, "\n"))))(t)
	return resources.NewAPIKeys(m)
}

func idsFrom(random io.Reader) resources.IDs {
	return resources.IDs{Now: func() time.Time { return time.UnixMilli(1_790_000_000_000) }, Random: random}
}

func TestAPIKeyHasItsForm(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	seen := map[string]bool{}
	for range 200 {
		raw, id := keys.New(idsFrom(rand.Reader))
		rest, ok := strings.CutPrefix(raw, "pcl_sk_live_")
		if !ok || len(rest) != 26+32+7 || strings.Trim(rest, alphabet) != "" || seen[raw] || seen[id] {
			t.Fatalf("a key of %d characters, made before: %t", len(raw), seen[raw])
		}
		if id != "apikey-"+rest[:26]+"-v1" || !resources.ValidID(id) {
			t.Errorf("id %q", id)
		}
		if parsed, ok := resources.ParseAPIKey(raw); !ok || parsed != id || !resources.IsAPIKey(raw) {
			t.Errorf("%q is parsed as %q, %t", id, parsed, ok)
		}
		seen[raw], seen[id] = true, true
	}
}

// TestAPIKeySecretHas160Bits checks that each of 160 random bits changes the key and its hash, and
// not its id.
func TestAPIKeySecretHas160Bits(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	made, ids := map[string]bool{}, map[string]bool{}
	for bit := range 160 {
		random := make([]byte, 10+32) // the id's, then five bits of each byte
		random[10+bit/5] = 1 << (bit % 5)
		raw, id := keys.New(idsFrom(bytes.NewReader(random)))
		made[string(keys.Hash(raw))], ids[id] = true, true
	}
	if len(made) != 160 || len(ids) != 1 {
		t.Errorf("160 bits make %d hashes of %d keys", len(made), len(ids))
	}
}

func TestAPIKeyWithoutRandomnessIsNotMade(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a key was made")
		}
	}()
	apiKeys(t, masterKeys(t, 1)...).New(idsFrom(bytes.NewReader(make([]byte, 20))))
}

func TestMistypedAPIKeyIsRefused(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	for range 20 {
		raw, _ := keys.New(idsFrom(rand.Reader))
		refuse := func(title, typed string) {
			t.Helper()
			if _, ok := resources.ParseAPIKey(typed); ok && typed != raw {
				t.Errorf("%s is accepted", title)
			}
		}
		for i := range raw {
			for c := range 256 {
				refuse("a character changed", raw[:i]+string([]byte{byte(c)})+raw[i+1:])
			}
			refuse("a character left out", raw[:i]+raw[i+1:])
			refuse("a character twice", raw[:i]+raw[i:i+1]+raw[i:])
			if i > 0 {
				refuse("two characters swapped", raw[:i-1]+raw[i:i+1]+raw[i-1:i]+raw[i+1:])
			}
		}
		for _, typed := range []string{"", raw[:len(raw)-1], raw + "0", " " + raw, raw + "\n", strings.ToUpper(raw), "pcl_sk_live_"} {
			refuse("another form", typed)
		}
	}
}

// TestSwapAcrossTheChecksumIsRefused swaps the last character of the secret and the first of the
// checksum.
func TestSwapAcrossTheChecksumIsRefused(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	random := make([]byte, 42)
	swaps := 0
	for range 50 {
		must.Get(rand.Read(random))(t)
		for last := range 32 {
			random[41] = byte(last)
			raw, _ := keys.New(idsFrom(bytes.NewReader(random)))
			i := len(raw) - 7
			typed := raw[:i-1] + raw[i:i+1] + raw[i-1:i] + raw[i+1:]
			if _, ok := resources.ParseAPIKey(typed); ok && typed != raw {
				t.Fatal("the swap is accepted")
			}
			swaps++
		}
	}
	if swaps != 50*32 {
		t.Error(swaps)
	}
}

// TestAPIKeyOfOtherCharactersIsRefused checks that a correct checksum does not save a wrong character.
func TestAPIKeyOfOtherCharactersIsRefused(t *testing.T) {
	raw, _ := apiKeys(t, masterKeys(t, 1)...).New(idsFrom(rand.Reader))
	typo := func(index int, c byte) string {
		body := []byte(raw[:len(raw)-7])
		body[index] = c
		sum, out := crc32.ChecksumIEEE(body), make([]byte, 7)
		for i := range out {
			out[i] = alphabet[sum>>(5*(6-i))&31]
		}
		return string(body) + string(out)
	}
	if _, ok := resources.ParseAPIKey(typo(12, raw[12])); !ok {
		t.Fatal("the checksum of this test is another one")
	}
	for _, c := range []byte("AILOUilou./-_\x00\n \xff") {
		for _, index := range []int{12, 37, 38, 69} {
			if id, ok := resources.ParseAPIKey(typo(index, c)); ok {
				t.Errorf("%q is accepted: %q", c, id)
			}
		}
	}
}

func TestAPIKeyMatchesItsHashOnly(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	raw, _ := keys.New(idsFrom(rand.Reader))
	other, _ := keys.New(idsFrom(rand.Reader))
	hash := keys.Hash(raw)
	if !keys.Match(raw, hash) {
		t.Error("its own hash is refused")
	}
	if bytes.Contains(hash, []byte(raw[12:])) || slices.Equal(hash, keys.Hash(other)) {
		t.Error("the hash tells the key, or two keys have one")
	}
	for name, wrong := range map[string][]byte{
		"another key's": keys.Hash(other), "none": nil, "empty": {}, "cut": hash[:31], "longer": append(slices.Clone(hash), 0),
		"zeros": make([]byte, 32), "the key itself": []byte(raw), "of another master key": apiKeys(t, masterKeys(t, 1)...).Hash(raw),
	} {
		if keys.Match(raw, wrong) {
			t.Errorf("the hash %s is accepted", name)
		}
	}
}

func TestAPIKeyOfARotatedMasterKeyIsAccepted(t *testing.T) {
	master := masterKeys(t, 3)
	before := apiKeys(t, master[2])
	raw, _ := before.New(idsFrom(rand.Reader))
	old := before.Hash(raw)
	rotated := apiKeys(t, master...)
	for i := range master {
		if !rotated.Match(raw, apiKeys(t, master[i]).Hash(raw)) {
			t.Errorf("a key hashed with master key %d is refused", i)
		}
	}
	if !rotated.Match(raw, old) {
		t.Error("a key hashed before the rotation is refused")
	}
	if hash := rotated.Hash(raw); slices.Equal(hash, old) || !apiKeys(t, master[0]).Match(raw, hash) {
		t.Error("a new hash is not made with the first key")
	}
	if apiKeys(t, master[:2]...).Match(raw, old) {
		t.Error("a key hashed with a master key that is gone is accepted")
	}
}

func TestAPIKeysWithoutAMasterKeyMatchNothing(t *testing.T) {
	keys := apiKeys(t, masterKeys(t, 1)...)
	raw, _ := keys.New(idsFrom(rand.Reader))
	var none resources.APIKeys
	if !none.IsZero() || keys.IsZero() || none.Match(raw, keys.Hash(raw)) || none.Match(raw, nil) {
		t.Error("the zero value matches, or is not told apart")
	}
}

func TestAPIKeyIsActiveUntilItsEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		key  resources.APIKey
		want bool
	}{
		{"for ever", resources.APIKey{}, true},
		{"a moment before its end", resources.APIKey{ExpiresAt: 1001}, true},
		{"at its end", resources.APIKey{ExpiresAt: 1000}, false},
		{"after its end", resources.APIKey{ExpiresAt: 999}, false},
		{"revoked", resources.APIKey{RevokedAt: 1}, false},
		{"revoked by a clock that is ahead", resources.APIKey{RevokedAt: 2000, ExpiresAt: 3000}, false},
	} {
		if got := c.key.Active(1000); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	if got := (resources.APIKey{Last4: "wxyz"}).Masked(); got != "pcl_sk_…wxyz" {
		t.Error(got)
	}
}

func FuzzParseAPIKey(f *testing.F) {
	keys := apiKeys(f, masterKeys(f, 1)...)
	raw, _ := keys.New(idsFrom(bytes.NewReader(make([]byte, 42))))
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Add("pcl_sk_live_")
	f.Add("pcl_sk_live_" + strings.Repeat("é", 32))
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := resources.ParseAPIKey(s)
		if !ok {
			if id != "" {
				t.Errorf("%q is refused with the id %q", s, id)
			}
			return
		}
		if !resources.IsAPIKey(s) || len(s) != len(raw) || !resources.ValidID(id) || strings.Trim(s[12:], alphabet) != "" {
			t.Errorf("%q is accepted as %q", s, id)
		}
		for i := 12; i < len(s); i++ {
			c := alphabet[(strings.IndexByte(alphabet, s[i])+1)%32]
			if _, ok := resources.ParseAPIKey(s[:i] + string(c) + s[i+1:]); ok {
				t.Errorf("%q is accepted with %c at %d", s, c, i)
			}
		}
	})
}
