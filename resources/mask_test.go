package resources_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// credentials makes one credential of each form; secret is the part that must be masked.
func credentials(t testing.TB) map[string]struct{ text, secret string } {
	t.Helper()
	master := must.Get(resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())))))(t)
	key, _ := resources.NewAPIKeys(master).New(resources.IDs{Now: time.Now, Random: rand.Reader})
	jwt := func(head string) string {
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(head) + "." + part(`{"iss":"i","aud":"a","sub":"`+rand.Text()+`"}`) + "." + part(rand.Text()+rand.Text()+rand.Text())
	}
	last := func(s string) string { return s[len(s)-20:] }
	out := map[string]struct{ text, secret string }{}
	for name, text := range map[string]string{
		"an API key": key, "part of an API key": key[:50], "an API key in capitals": strings.ToUpper(key),
		"a JWT": jwt(`{"alg":"EdDSA","typ":"JWT"}`), "a JWT with blanks": jwt(`{ "alg" : "EdDSA" }`), "a JWT with line breaks": jwt("\n{\n\"alg\":\"EdDSA\"}"),
		"a bearer's value": "Bearer " + rand.Text(), "a bearer's value, otherwise spelt": "bEARER+\t" + rand.Text(),
	} {
		out[name] = struct{ text, secret string }{text, last(text)}
	}
	return out
}

// percentEncoded escapes each character for which f is true, n times over.
func percentEncoded(s string, n int, f func(c byte) bool) string {
	var out strings.Builder
	for i := range len(s) {
		if f(s[i]) {
			fmt.Fprintf(&out, "%%%s%02X", strings.Repeat("25", n-1), s[i])
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// TestCredentialsAreMaskedWhereverTheyStand checks credentials in texts, escaped and percent-encoded.
func TestCredentialsAreMaskedWhereverTheyStand(t *testing.T) {
	for name, c := range credentials(t) {
		for place, format := range map[string]string{
			"alone": "%s", "in a path": "/api/v1/authorize/%s/instances", "among words": "no role grants %s here", "after letters": "xyz%s", "in an id": "id-%s-v1",
			"in quotes": `"\"%s\""`, "after an escape": `\n%s`, "after a dot": "a.b.%s",
		} {
			for spelling, s := range map[string]string{
				"as it is":                c.text,
				"with encoded characters": percentEncoded(c.text, 1, func(b byte) bool { return strings.IndexByte("_.- \t", b) >= 0 }),
				"encoded whole":           percentEncoded(c.text, 1, func(byte) bool { return true }),
				"encoded over and over":   percentEncoded(c.text, 3, func(byte) bool { return true }),
			} {
				text := fmt.Sprintf(format, s)
				got := resources.MaskCredentials(text)
				secret := s[len(s)-len(c.secret):]
				if strings.Contains(got, secret) || !strings.Contains(got, "…") || !resources.HoldsCredential(text) || resources.HoldsCredential(got) {
					t.Errorf("%s %s, %s: %s", name, place, spelling, got)
				}
			}
		}
	}
}

// TestOrdinaryTextIsNotMasked checks texts that resemble credentials.
func TestOrdinaryTextIsNotMasked(t *testing.T) {
	for _, text := range []string{
		"", "no active role of the user grants project:instance:create in proj-demo-v1", "pcl_sk_…abcd", "pcl_sk_live_", "Bearer", "WWW-Authenticate: Bearer", "Bearer…", "eyJ", "eyJohn",
		"portcullis-resources-firewall.some-long-namespace-name.svc.cluster.local", "/a%20b/c%2Fd", "3b4f0cbe-8d6f-4d4b-9a7e-0d2b1d4c5e6f", strings.Repeat("a", 200), "2026-01-01T00:00:00.123456789Z 127.0.0.1:8080",
	} {
		if got := resources.MaskCredentials(text); got != text || resources.HoldsCredential(text) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestUnseenCharacters checks which characters count as invisible.
func TestUnseenCharacters(t *testing.T) {
	for _, r := range "\x00\n\r\t\x1b\x7f\u0080\u0085\u009b\u009f\u00a0\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\u3000\u3164\ufe0f\ufeff\ufff9\U000e0001\U000e0100\ue000" {
		if !resources.Unseen(r) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range " aZ0~\"\\äßЖ中é…\u0301\u2026😀" {
		if resources.Unseen(r) {
			t.Errorf("%U is not shown", r)
		}
	}
}

// FuzzMaskCredentials guarantees that text around a credential does not save it. A JSON string stays one.
func FuzzMaskCredentials(f *testing.F) {
	var all []struct{ text, secret string }
	for _, c := range credentials(f) {
		all = append(all, c)
	}
	for _, around := range []string{"", "/", "a.b", "Bearer ", "eyJ", "pcl_sk_live_", `"\u`, "%25%2e", "…", "\xff", "x%"} {
		f.Add(around, around, uint8(len(around)))
	}
	f.Fuzz(func(t *testing.T, before, after string, index uint8) {
		c := all[int(index)%len(all)]
		text := before + c.text + after
		got := resources.MaskCredentials(text)
		if strings.Contains(got, c.secret) {
			t.Fatalf("%q becomes %q", text, got)
		}
		if resources.HoldsCredential(got) || resources.MaskCredentials(got) != got {
			t.Fatalf("%q becomes %q, in which there is one", text, got)
		}
		line := must.Get(json.Marshal(text))(t)
		if line := resources.MaskCredentials(string(line)); !json.Valid([]byte(line)) || strings.Contains(line, c.secret) {
			t.Fatalf("%q becomes %s", text, line)
		}
	})
}
