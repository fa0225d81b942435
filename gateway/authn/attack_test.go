package authn_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestForgedAlgorithmIsRefused(t *testing.T) {
	a, k := standard(t), testKeys()
	der := must.Get(x509.MarshalPKIXPublicKey(k.rs.Public()))(t)
	text := func(h object) string { return b64([]byte(h.json())) + "." + b64([]byte(claims().json())) }
	mac := func(h object, secret []byte) string {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(text(h)))
		return text(h) + "." + b64(m.Sum(nil))
	}
	hs := func(kid string) object { return object{"alg": "HS256", "kid": kid} }
	rest := func(alg string) string {
		return forge(edHead().merged(object{"alg": alg}).json(), claims().json(), "EdDSA", k.ed)
	}
	for name, token := range map[string]string{
		"none, no signature":         text(object{"alg": "none", "kid": "ed"}) + ".",
		"none, some signature":       rest("none"),
		"None":                       rest("None"),
		"blank":                      rest(""),
		"hmac with public DER":       mac(hs("rs"), der),
		"hmac with public PEM":       mac(hs("rs"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"hmac with public Ed25519":   mac(hs("ed"), k.ed.Public().(ed25519.PublicKey)),
		"hmac with an empty key":     mac(hs("ed"), nil),
		"ES384":                      rest("ES384"),
		"RS512":                      rest("RS512"),
		"other letters":              rest("eddsa"),
		"no alg":                     forge(edHead().merged(object{"alg": nil}).json(), claims().json(), "EdDSA", k.ed),
		"alg is a number":            forge(edHead().merged(object{"alg": 1}).json(), claims().json(), "EdDSA", k.ed),
		"RS256 header, Ed25519 key":  rest("RS256"),
		"ES256 with the P-384 key":   forge(`{"alg":"ES256","kid":"es"}`, claims().json(), "ES256", k.p384),
		"RS256 signed as PS256":      forge(`{"alg":"PS256","kid":"rs"}`, claims().json(), "RS256", k.rs),
		"somebody else's key":        forge(edHead().json(), claims().json(), "EdDSA", k.otherEd),
		"no signature":               text(edHead()) + ".",
		"signature of another token": text(edHead().merged(object{"x": "y"})) + "." + strings.Split(edToken(nil), ".")[2],
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, token) })
	}
}

func TestMalformedHeaderIsRefused(t *testing.T) {
	a, k := standard(t), testKeys()
	for name, head := range map[string]string{
		"crit":                  `{"alg":"EdDSA","kid":"ed","crit":["exp"]}`,
		"crit empty":            `{"alg":"EdDSA","kid":"ed","crit":[]}`,
		"crit null":             `{"alg":"EdDSA","kid":"ed","crit":null}`,
		"b64":                   `{"alg":"EdDSA","kid":"ed","b64":false}`,
		"jku":                   `{"alg":"EdDSA","kid":"ed","jku":"https://evil.test/keys"}`,
		"x5u":                   `{"alg":"EdDSA","kid":"ed","x5u":"https://evil.test/cert"}`,
		"jwk":                   `{"alg":"EdDSA","kid":"ed","jwk":{"kty":"OKP"}}`,
		"x5c":                   `{"alg":"EdDSA","kid":"ed","x5c":["AAAA"]}`,
		"duplicate alg":         `{"alg":"none","alg":"EdDSA","kid":"ed"}`,
		"duplicate kid":         `{"alg":"EdDSA","kid":"other","kid":"ed"}`,
		"duplicate by escape":   `{"alg":"EdDSA","\u006bid":"other","kid":"ed"}`,
		"duplicate deep down":   `{"alg":"EdDSA","kid":"ed","x":[{"a":1,"a":2}]}`,
		"alg in other letters":  `{"ALG":"EdDSA","kid":"ed"}`,
		"kid in other letters":  `{"alg":"EdDSA","KID":"ed","kid":"no"}`,
		"kid is a path":         `{"alg":"EdDSA","kid":"../../ed"}`,
		"kid is a query":        `{"alg":"EdDSA","kid":"ed' OR '1'='1"}`,
		"kid with NUL":          `{"alg":"EdDSA","kid":"ed\u0000"}`,
		"kid empty":             `{"alg":"EdDSA","kid":""}`,
		"kid null":              `{"alg":"EdDSA","kid":null}`,
		"kid a number":          `{"alg":"EdDSA","kid":1}`,
		"kid a list":            `{"alg":"EdDSA","kid":["ed"]}`,
		"kid of another key":    `{"alg":"EdDSA","kid":"es"}`,
		"kid unknown":           `{"alg":"EdDSA","kid":"nobody"}`,
		"kid in capitals":       `{"alg":"EdDSA","kid":"ED"}`,
		"typ of a logout token": `{"alg":"EdDSA","kid":"ed","typ":"logout+jwt"}`,
		"typ null-ish":          `{"alg":"EdDSA","kid":"ed","typ":{}}`,
		"invalid UTF-8":         "{\"alg\":\"EdDSA\",\"kid\":\"ed\",\"x\":\"\xff\"}",
		"lone surrogate":        `{"alg":"EdDSA","kid":"ed","x":"\ud800"}`,
		"BOM":                   "\ufeff" + `{"alg":"EdDSA","kid":"ed"}`,
		"two values":            `{"alg":"EdDSA","kid":"ed"}{}`,
		"a list":                `[{"alg":"EdDSA","kid":"ed"}]`,
		"null":                  `null`,
		"a string":              `"EdDSA"`,
		"cut":                   `{"alg":"EdDSA","kid":"ed"`,
		"nested deeply":         `{"alg":"EdDSA","kid":"ed","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, forge(head, claims().json(), "EdDSA", k.ed)) })
	}
}

func TestMalformedClaimsAreRefused(t *testing.T) {
	a, k := standard(t), testKeys()
	exp := fmt.Sprint(start.Add(time.Hour).Unix())
	const rest = `"iss":"` + issuerName + `","aud":"` + audience + `"`
	for name, payload := range map[string]string{
		"exp null":                `{` + rest + `,"sub":"u","exp":null}`,
		"exp a string":            `{` + rest + `,"sub":"u","exp":"` + exp + `"}`,
		"exp true":                `{` + rest + `,"sub":"u","exp":true}`,
		"exp zero":                `{` + rest + `,"sub":"u","exp":0}`,
		"exp negative":            `{` + rest + `,"sub":"u","exp":-1}`,
		"exp negative and huge":   `{` + rest + `,"sub":"u","exp":-9223372036854775809}`,
		"exp 2^63":                `{` + rest + `,"sub":"u","exp":9223372036854775808}`,
		"exp 1e300":               `{` + rest + `,"sub":"u","exp":1e300}`,
		"exp 1e999":               `{` + rest + `,"sub":"u","exp":1e999}`,
		"exp past the year 9999":  `{` + rest + `,"sub":"u","exp":253402300800}`,
		"exp in milliseconds":     `{` + rest + `,"sub":"u","exp":` + exp + `000}`,
		"exp in other letters":    `{` + rest + `,"sub":"u","EXP":` + exp + `}`,
		"duplicate exp":           `{` + rest + `,"sub":"u","exp":1,"exp":` + exp + `}`,
		"duplicate sub":           `{` + rest + `,"sub":"u","sub":"v","exp":` + exp + `}`,
		"duplicate iss":           `{"iss":"other",` + rest + `,"sub":"u","exp":` + exp + `}`,
		"duplicate aud":           `{"aud":"other",` + rest + `,"sub":"u","exp":` + exp + `}`,
		"duplicate by escape":     `{` + rest + `,"sub":"u","s\u0075b":"v","exp":` + exp + `}`,
		"duplicate deep down":     `{` + rest + `,"sub":"u","x":{"y":{"a":1,"a":1}},"exp":` + exp + `}`,
		"sub in other letters":    `{` + rest + `,"SUB":"u","exp":` + exp + `}`,
		"sub null":                `{` + rest + `,"sub":null,"exp":` + exp + `}`,
		"sub a number":            `{` + rest + `,"sub":7,"exp":` + exp + `}`,
		"sub a list":              `{` + rest + `,"sub":["u"],"exp":` + exp + `}`,
		"sub with NUL":            `{` + rest + `,"sub":"u\u0000v","exp":` + exp + `}`,
		"sub with a line break":   `{` + rest + `,"sub":"u\nv","exp":` + exp + `}`,
		"sub lone surrogate":      `{` + rest + `,"sub":"\udfff","exp":` + exp + `}`,
		"sub broken pair":         `{` + rest + `,"sub":"\ud83d\u0041","exp":` + exp + `}`,
		"sub invalid UTF-8":       `{` + rest + `,"sub":"` + "\xc0\xaf" + `","exp":` + exp + `}`,
		"sub of 256 bytes":        `{` + rest + `,"sub":"` + strings.Repeat("u", 256) + `","exp":` + exp + `}`,
		"iss in other letters":    `{"ISS":"` + issuerName + `","aud":"` + audience + `","sub":"u","exp":` + exp + `}`,
		"aud a list with null":    `{"iss":"` + issuerName + `","aud":["` + audience + `",null],"sub":"u","exp":` + exp + `}`,
		"aud a list with numbers": `{"iss":"` + issuerName + `","aud":["` + audience + `",1],"sub":"u","exp":` + exp + `}`,
		"aud an object":           `{"iss":"` + issuerName + `","aud":{"` + audience + `":true},"sub":"u","exp":` + exp + `}`,
		"two values":              `{` + rest + `,"sub":"u","exp":` + exp + `}{}`,
		"null":                    `null`,
		"a list":                  `[]`,
		"a token within":          edToken(nil),
		"nbf null":                `{` + rest + `,"sub":"u","nbf":null,"exp":` + exp + `}`,
		"iat a string":            `{` + rest + `,"sub":"u","iat":"1","exp":` + exp + `}`,
		"scope a list":            `{` + rest + `,"sub":"u","scope":["authz:check"],"exp":` + exp + `}`,
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, forge(edHead().json(), payload, "EdDSA", k.ed)) })
	}
}

// TestInvisibleSubjectIsRefused: a user's or a service's subject that is blank, padded or has a
// control character is refused before the directory and SignIn are called.
func TestInvisibleSubjectIsRefused(t *testing.T) {
	asked := ""
	a := must.Get(authn.New(authn.Options{
		Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Now: newClock().Now,
		Directory: directory(func(_ context.Context, sub string, _, _ bool) (resources.Identity, bool, error) {
			asked = sub
			return resources.Identity{ID: "user-1", AccountID: "acct-1", Status: resources.StatusActive}, true, nil
		}),
		SignIn: func(_ context.Context, subject, _ string) (bool, error) { asked = subject; return true, nil },
	}))(t)
	for _, sub := range []string{
		"", " ", "   ", "\t", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u2800\u200b", "\u3164", " user-1", "user-1 ", "\u00a0user-1", "user-1\u200b", "user\u200d-1", "user-1\n", "\x00", "user\x7f",
		"user\u0085", "user\u009b2J", "\u202euser", "user\u2028", "user\u00ad-1", "\U000e0001user", " service-x", "service-x\u200b", strings.Repeat("u", 256),
	} {
		for _, claims := range []object{{"sub": sub}, {"sub": sub, "email": "a@b.test", "email_verified": true}} {
			mustRefuse(t, a, edToken(claims))
		}
		if asked != "" {
			t.Errorf("%q: %q was looked up", sub, asked)
		}
	}
	for _, sub := range []string{"user-1", "auth0|iris", "CN=Iris Ünï,O=中", "u", strings.Repeat("u", 255)} {
		mustAccept(t, a, edToken(object{"sub": sub}))
	}
}

func TestWrongClaimsAreRefused(t *testing.T) {
	a := standard(t)
	offset := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for name, changes := range map[string]object{
		"no exp":                      {"exp": nil},
		"expired":                     {"exp": offset(-time.Hour)},
		"expired by the leeway":       {"exp": offset(-30 * time.Second)},
		"nbf in the future":           {"nbf": offset(31 * time.Second)},
		"iat in the future":           {"iat": offset(31 * time.Second)},
		"no iss":                      {"iss": nil},
		"iss empty":                   {"iss": ""},
		"iss unknown":                 {"iss": "https://evil.test"},
		"iss with a slash more":       {"iss": issuerName + "/"},
		"iss in other letters":        {"iss": strings.ToUpper(issuerName)},
		"iss a list":                  {"iss": []string{issuerName}},
		"no aud":                      {"aud": nil},
		"aud empty":                   {"aud": ""},
		"aud an empty list":           {"aud": []string{}},
		"aud of another service":      {"aud": "other.test"},
		"aud a list of other ones":    {"aud": []string{"other.test", "third.test"}},
		"aud a prefix":                {"aud": audience[:5]},
		"aud with a blank":            {"aud": audience + " "},
		"no sub":                      {"sub": nil},
		"sub empty":                   {"sub": ""},
		"service without a name":      {"sub": "service-"},
		"service with a strange name": {"sub": "service-a b"},
		"service with a path":         {"sub": "service-../a"},
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, edToken(changes)) })
	}
}

func TestChangedBytesAreRefused(t *testing.T) {
	a := standard(t)
	token := edToken(nil)
	parts := strings.Split(token, ".")
	// An Ed25519 signature leaves 4 spare bits in its last character.
	last := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", token[len(token)-1])
	spare := token[:len(token)-1] + string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last|1])
	if last&15 != 0 {
		t.Fatalf("the last character %d has no spare bits", last)
	}
	padded := func(s string) string {
		raw, _ := base64.RawURLEncoding.DecodeString(s)
		return base64.URLEncoding.EncodeToString(raw)
	}
	for name, token := range map[string]string{
		"spare bits at the end":      spare,
		"padding":                    parts[0] + "." + parts[1] + "." + padded(parts[2]),
		"a line break at the end":    token + "\n",
		"a line break in the head":   parts[0][:4] + "\r\n" + parts[0][4:] + "." + parts[1] + "." + parts[2],
		"a line break in the claims": parts[0] + "." + parts[1][:4] + "\n" + parts[1][4:] + "." + parts[2],
		"a blank before":             " " + token,
		"a blank after":              token + " ",
		"a NUL after":                token + "\x00",
		"a part more":                token + ".",
		"a fourth part":              token + "." + parts[2],
		"five parts":                 "a.b.c.d.e",
		"a part less":                parts[0] + "." + parts[1],
		"parts swapped":              parts[1] + "." + parts[0] + "." + parts[2],
		"cut":                        token[:len(token)-2],
		"standard alphabet":          strings.ReplaceAll(token, "-", "+") + "/",
		"a scheme before":            "Bearer " + token,
		"dots":                       "..",
		"a comma and another":        token + "," + token,
		"more than 8 KiB":            edToken(object{"x": strings.Repeat("x", 8192)}),
		"one megabyte":               strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, token) })
	}
	mustAccept(t, a, token)
}

func TestKeyOfTheTokenIsNeverFollowed(t *testing.T) {
	var calls atomic.Int32
	k := testKeys()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write(jwks(t, jwk("evil", "EdDSA", "sig", k.otherEd.Public())))
	}))
	defer evil.Close()
	a := standard(t)
	public := jwk("evil", "EdDSA", "sig", k.otherEd.Public())
	for name, head := range map[string]object{
		"jku": {"alg": "EdDSA", "kid": "evil", "jku": evil.URL},
		"x5u": {"alg": "EdDSA", "kid": "evil", "x5u": evil.URL},
		"jwk": {"alg": "EdDSA", "kid": "evil", "jwk": public},
		"kid": {"alg": "EdDSA", "kid": evil.URL},
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, a, forge(head.json(), claims().json(), "EdDSA", k.otherEd)) })
	}
	if calls.Load() != 0 {
		t.Errorf("the token's URL was fetched %d times", calls.Load())
	}
}

func TestCauseShowsLittleOfTheToken(t *testing.T) {
	long := strings.Repeat("k", 500)
	for _, token := range []string{
		forge(edHead().merged(object{"kid": long}).json(), claims().json(), "EdDSA", testKeys().ed),
		edToken(object{"iss": long}),
	} {
		if _, err := standard(t).Verify(t.Context(), token); err == nil || strings.Contains(err.Error(), long[:100]) {
			t.Errorf("%v", err)
		}
	}
}
