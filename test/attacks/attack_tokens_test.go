package attacks_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash"
	"strings"

	"github.com/portcullis-authz/portcullis/test/must"
)

// tokenAttacks guarantees one and the same 401 for any fault of a token. Nobody judges its bearer's
// rights.
func tokenAttacks(w *attacksWorld, r *refusals) {
	var tokens []namedToken
	for _, more := range [][]namedToken{w.algorithms(), w.headerMembers(), w.times(), w.names(), w.twice(), w.forms(), w.subjects()} {
		tokens = append(tokens, more...)
	}
	r.unjudged("tokens", func() {
		for area, target := range map[string]string{"role.list": w.tenant.path("/roles"), "user.list": w.tenant.path("/users"), "security_group.list": w.tenant.path(w.tenant.sgPath(w.tenant.project, ""))} {
			body := ""
			for _, token := range tokens {
				a := r.refuse(area+", "+token.name, request("GET", target, "", bearer(token.text), "X-Account-ID: "+w.tenant.account), 401)
				if body == "" {
					body = a.Body
				}
				if a.Status == 401 && a.Body != body {
					r.fault("%s, %s: another answer than the others: %s, %s", area, token.name, a.Body, body)
				}
			}
		}
	})
	r.unjudged("tokens that would change something", func() {
		for _, token := range tokens {
			r.refuse("project.create, "+token.name, request("POST", w.tenant.path("/projects"), `{"name":"new"}`, bearer(token.text)), 401)
		}
	})
	services(w, r)
	lifecycle(w, r)
}

type namedToken struct{ name, text string }

// good are the claims of a token that would be accepted, as text with a change.
func (w *attacksWorld) good(change func(map[string]any)) string {
	claims := claimsOf(w.tenant.admin)
	change(claims)
	return encoded(claims)
}

func same(map[string]any) {}

// algorithms are those without a signature, those with a public value as their secret, and those
// nobody agreed on.
func (w *attacksWorld) algorithms() []namedToken {
	payload := w.good(same)
	public, _ := x509.MarshalPKIXPublicKey(w.issuer.key.Public()) // an Ed25519 key always has a form
	secrets := map[string][]byte{
		"an empty secret": {}, "the public key": w.issuer.key.Public().(ed25519.PublicKey), "the public key's DER": public, "its PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), "its JWK": []byte(w.issuer.jwk()), "its kid": []byte(w.issuer.kid),
		"its x": []byte(base64.RawURLEncoding.EncodeToString(w.issuer.key.Public().(ed25519.PublicKey))), "secret": []byte("secret"), "a zero byte": {0},
	}
	var out []namedToken
	for _, alg := range []string{"HS256", "HS384", "HS512", "hs256", "EdDSA", "ES256", "RS256"} {
		for name, secret := range secrets {
			signed := part(fmt.Sprintf(`{"alg":%q,"typ":"JWT","kid":%q}`, alg, w.issuer.kid)) + "." + part(payload)
			mac := hmac.New(func() hash.Hash { return sha256.New() }, secret)
			mac.Write([]byte(signed))
			out = append(out, namedToken{alg + " with " + name, signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))})
		}
	}
	for _, alg := range []string{
		`"none"`, `"None"`, `"NONE"`, `"nOnE"`, `"none "`, `" none"`, `""`, `null`, `0`, `[]`, `["EdDSA"]`, `{}`, `true`, `"eddsa"`, `"EDDSA"`, `"EdDSA "`, `"Ed25519"`, `"Ed448"`, `"ES384"`, `"ES512"`, `"ES256K"`, `"RS384"`, `"RS512"`, `"PS384"`, `"PS512"`, `"RSA-OAEP"`, `"dir"`, `"A128KW"`, `"PBES2-HS256+A128KW"`, `"EdDSA\u0000"`, `"ES256"`, `"RS256"`, `"PS256"`,
	} {
		header := fmt.Sprintf(`{"alg":%s,"typ":"JWT","kid":%q}`, alg, w.issuer.kid)
		signed := part(header) + "." + part(payload)
		out = append(out, namedToken{"alg " + alg, w.issuer.sign(header, payload)}, namedToken{"alg " + alg + ", no signature", signed + "."}, namedToken{"alg " + alg + ", a signature of nothing", signed + ".AA"})
	}
	return append(out, namedToken{"no alg", w.issuer.sign(fmt.Sprintf(`{"typ":"JWT","kid":%q}`, w.issuer.kid), payload)}, namedToken{"another key of the kid", newIssuer(w.t).sign(w.issuer.header(), payload)}, namedToken{"ES256 of a key of its own", w.ecdsaToken(payload)})
}

// ecdsaToken is signed with a key that nobody published.
func (w *attacksWorld) ecdsaToken(payload string) string {
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(w.t)
	signed := part(fmt.Sprintf(`{"alg":"ES256","typ":"JWT","kid":%q}`, w.issuer.kid)) + "." + part(payload)
	sum := sha256.Sum256([]byte(signed))
	a, b := must.Two(ecdsa.Sign(rand.Reader, key, sum[:]))(w.t)
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...))
}

// headerMembers name keys of the sender's own, change what is signed, or say the token is not a
// credential.
func (w *attacksWorld) headerMembers() []namedToken {
	var out []namedToken
	edit := func(name, member string) {
		out = append(out, namedToken{name, w.issuer.sign(strings.TrimSuffix(w.issuer.header(), "}")+","+member+"}", w.good(same))})
	}
	for _, member := range []string{
		`"jku":"http://127.0.0.1:1/keys"`, `"jku":"https://issuer.example/keys"`, `"jku":null`, `"x5u":"http://127.0.0.1:1/cert"`, `"x5u":""`, `"jwk":` + w.issuer.jwk(), `"jwk":{}`, `"jwk":null`, `"x5c":["AA"]`, `"x5c":[]`, `"crit":["exp"]`, `"crit":[]`, `"crit":["b64"],"b64":false`, `"b64":false`, `"b64":true`, `"crit":null`,
		`"alg":"EdDSA"`, `"alg":"none"`, `"kid":"one"`, `"typ":"JWT"`, `"typ":"dpop+jwt"`,
	} {
		edit("header with "+member, member)
	}
	for _, kid := range []string{
		`""`, `null`, `1`, `true`, `["one"]`, `{}`, `"two"`, `"One"`, `"one "`, `" one"`, `"one\u0000"`, `"../one"`, `"../../../../dev/null"`, `"/dev/null"`, `"one/../one"`, `"one?x"`, `"one#x"`, `"' OR '1'='1"`, `"one' UNION SELECT 'x"`, `"http://127.0.0.1:1/key"`, `"file:///etc/passwd"`, `"%6fne"`, `"one%00"`, `"one;ls"`, `"$(ls)"`, `"\u006fne\u200b"`, `"{\"$ne\":1}"`, `{"$ne":""}`, `"` + strings.Repeat("k", 4000) + `"`,
	} {
		out = append(out, namedToken{fmt.Sprintf("kid %.60s", kid), w.issuer.sign(`{"alg":"EdDSA","typ":"JWT","kid":`+kid+`}`, w.good(same))})
	}
	for _, typ := range []string{`"portcullis-assertion+jwt"`, `"logout+jwt"`, `"secevent+jwt"`, `"dpop+jwt"`, `"JWE"`, `""`, `null`, `1`, `["JWT"]`, `"at+jwt "`, `"JOSE"`} {
		out = append(out, namedToken{"typ " + typ, w.issuer.sign(fmt.Sprintf(`{"alg":"EdDSA","typ":%s,"kid":%q}`, typ, w.issuer.kid), w.good(same))})
	}
	for _, header := range []string{`{}`, `[]`, `null`, `"EdDSA"`, `{"alg":"EdDSA"`, `{"alg":"EdDSA"}}`, `{"alg":"EdDSA"}{}`, "{\"alg\":\"Ed\xffDSA\"}", "\ufeff" + w.issuer.header(), `{"ALG":"EdDSA","KID":"one"}`, w.issuer.header() + " x"} {
		out = append(out, namedToken{fmt.Sprintf("header %q", header), w.issuer.sign(header, w.good(same))})
	}
	return out
}

// raw is a payload in which one claim has this JSON text; "" takes it out.
func (w *attacksWorld) raw(claim, value string) string {
	claims := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(w.good(same)), &claims) // it was just written
	if delete(claims, claim); value != "" {
		claims[claim] = json.RawMessage("0")
	}
	return strings.Replace(encoded(claims), fmt.Sprintf("%q:0", claim), fmt.Sprintf("%q:%s", claim, value), 1)
}

// times are expiries that never come, and tokens of another time.
func (w *attacksWorld) times() []namedToken {
	var out []namedToken
	now := claimsOf("")["iat"].(int64)
	odd := []string{`null`, `"never"`, fmt.Sprintf(`"%d"`, now+3600), `true`, `[]`, `{}`, fmt.Sprintf(`[%d]`, now+3600), `-1`, `-1e300`, `1e300`, `1e400`, `253402300800`, `9223372036854775807`, `9223372036854775808`, `18446744073709551616`, `1e19`, `-9223372036854775809`, `99999999999999999999999999`, `"Infinity"`, `{"$gt":0}`}
	for _, value := range append(odd, "", `0`, `0.5`, `1`, `-0`, fmt.Sprint(now-31), fmt.Sprint(now-3600)) {
		out = append(out, namedToken{"exp " + value, w.issuer.sign(w.issuer.header(), w.raw("exp", value))})
	}
	for _, claim := range []string{"nbf", "iat"} {
		// None of them comes while the tokens are tried.
		for _, value := range append(odd, fmt.Sprint(now+600), fmt.Sprint(now+3600), `253402300799`) {
			out = append(out, namedToken{claim + " " + value, w.issuer.sign(w.issuer.header(), w.raw(claim, value))})
		}
	}
	return out
}

// names are issuers and audiences that are somebody else's.
func (w *attacksWorld) names() []namedToken {
	var out []namedToken
	for claim, self := range map[string]string{"iss": issuerName, "aud": audienceName} {
		values := []string{
			"", `null`, `""`, `" "`, `1`, `true`, `{}`, `"` + self + `/"`, `"` + self + ` "`, `" ` + self + `"`, `"` + strings.ToUpper(self) + `"`, `"` + self + `\u0000"`, `"` + self + `,other"`, `"other"`, `"*"`, `{"` + self + `":1}`, `"` + self[:len(self)-1] + `"`, `"portcullis"`,
			`[]`, `[""]`, `["other"]`, `[null]`, `["` + self + `",null]`, `["` + self + `",1]`, `["` + self + `/"]`, `[["` + self + `"]]`,
		}
		if claim == "iss" {
			values = append(values, `["`+self+`"]`, `"http://issuer.example"`, `"https://ISSUER.example"`, `"https://issuer.example:443"`)
		}
		for _, value := range values {
			out = append(out, namedToken{claim + " " + value, w.issuer.sign(w.issuer.header(), w.raw(claim, value))})
		}
	}
	return out
}
