package attacks_test

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// twice are payloads with a claim twice, for two readers to take different ones, and payloads other
// than an object.
func (w *attacksWorld) twice() []namedToken {
	var out []namedToken
	good := w.good(same)
	for _, member := range []string{`"sub":"user-oursadmin-v1"`, `"sub":"service-x"`, `"iss":"other"`, `"aud":"gateway"`, `"exp":1`, `"exp":9999999999`, `"scope":"platform:admin","scope":"x"`, `"x":1,"x":1`, `"x":{"a":1,"a":2}`, `"x":[{"a":1,"a":2}]`, `"sub":"user-theirsadmin-v1"`, `"x":"\ud800"`} {
		out = append(out, namedToken{"payload with " + member, w.issuer.sign(w.issuer.header(), strings.TrimSuffix(good, "}")+","+member+"}")}, namedToken{"payload first with " + member, w.issuer.sign(w.issuer.header(), "{"+member+","+good[1:])})
	}
	for _, payload := range []string{``, `{}`, `[]`, `null`, `""`, `1`, `[` + good + `]`, good + good, good + " x", good[:len(good)-1], "\ufeff" + good, strings.Replace(good, "user-", "us\xffer-", 1), strings.ToUpper(good), `{"claims":` + good + `}`, strings.Repeat(`{"x":`, 40) + `1` + strings.Repeat("}", 40)} {
		out = append(out, namedToken{fmt.Sprintf("payload %.40q", payload), w.issuer.sign(w.issuer.header(), payload)})
	}
	return out
}

// forms are good tokens with their text changed: each has one spelling.
func (w *attacksWorld) forms() []namedToken {
	good := w.issuer.sign(w.issuer.header(), w.good(same))
	parts := strings.Split(good, ".")
	out := []namedToken{
		{"two parts", parts[0] + "." + parts[1]},
		{"one part", parts[0]},
		{"four parts", good + "." + parts[2]},
		{"five parts", strings.Join([]string{parts[0], "", parts[1], parts[2], ""}, ".")},
		{"dots", ".."},
		{"a dot behind", good + "."},
		{"a dot before", "." + good},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"another's signature", parts[0] + "." + parts[1] + "." + strings.Split(w.tenant.bobToken, ".")[2]},
		{"another's payload", parts[0] + "." + strings.Split(w.foreign.adminToken, ".")[1] + "." + parts[2]},
		{"the signature twice", good + parts[2]},
		{"standard base64", parts[0] + "." + parts[1] + "." + strings.NewReplacer("-", "+", "_", "/").Replace(parts[2]) + "+"},
		{"8 KiB and one", parts[0] + "." + parts[1] + "." + strings.Repeat("A", 8193)},
		{"20 KiB", strings.Repeat("a", 20<<10)},
		{"a padded payload of 9 KiB", w.issuer.sign(w.issuer.header(), w.good(func(c map[string]any) { c["x"] = strings.Repeat("x", 9<<10) }))},
		{"garbage", "garbage"},
		{"a JSON serialization", `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`},
		{"a PASETO", "v4.public." + parts[1]},
		{"percent-encoded", strings.ReplaceAll(good, ".", "%2E")},
	}
	for i := range parts {
		for _, spoil := range []string{"=", "==", "\u00a0", "+", "/", "%3D", "~", "*", "A", "AA", "AAAA"} {
			changed := append([]string(nil), parts...)
			changed[i] += spoil
			out = append(out, namedToken{fmt.Sprintf("%q behind part %d", spoil, i+1), strings.Join(changed, ".")})
		}
		changed := append([]string(nil), parts...)
		changed[i] = trailingBits(parts[i])
		if changed[i] != parts[i] {
			out = append(out, namedToken{fmt.Sprintf("other trailing bits in part %d", i+1), strings.Join(changed, ".")})
		}
		for index := 0; index < len(parts[i]); index += 7 {
			changed[i] = parts[i][:index] + flipped(parts[i][index]) + parts[i][index+1:]
			out = append(out, namedToken{fmt.Sprintf("another letter at %d of part %d", index, i+1), strings.Join(changed, ".")})
		}
	}
	return out
}

// flipped is another letter of base64url.
func flipped(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// trailingBits changes the spare bits of the last letter: a careless decoder reads the same bytes.
func trailingBits(text string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	want, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	for _, c := range letters {
		other := text[:len(text)-1] + string(c)
		if got, err := base64.RawURLEncoding.DecodeString(other); err == nil && string(got) == string(want) && other != text {
			return other
		}
	}
	return text
}

// subjects are of nobody.
func (w *attacksWorld) subjects() []namedToken {
	var out []namedToken
	for _, value := range []string{
		"", `null`, `""`, `" "`, `1`, `true`, `[]`, `["` + w.tenant.admin + `"]`, `{"$ne":null}`, `{"$gt":""}`, `"user-nobody-v1"`, `"` + strings.ToUpper(w.tenant.admin) + `"`, `"` + w.tenant.admin + ` "`, `" ` + w.tenant.admin + `"`, `"` + w.tenant.admin + `\u0000"`, `"` + w.tenant.admin + `\n"`, `"` + w.tenant.admin + `\u200b"`,
		`"\uff55ser-oursadmin-v1"`, `"` + w.tenant.adminEmail + `"`, `"*"`, `".*"`, `"user-%"`, `"' OR '1'='1"`, `"` + strings.Repeat("a", 256) + `"`, `"` + w.tenant.invited + `"`, `"service-"`, `"service- x"`, `"service-x/y"`, `"service-\u0000"`, `"group-x"`, `"` + w.tenant.group + `"`, `"` + w.tenant.bobUUID + `"`,
	} {
		out = append(out, namedToken{"sub " + value, w.issuer.sign(w.issuer.header(), w.raw("sub", value))})
	}
	for _, more := range []string{`"email":"` + w.tenant.adminEmail + `","email_verified":true`, `"email":"` + w.foreign.bobEmail + `","email_verified":true`, `"email":"invited@ours.example"`, `"email":"invited@ours.example","email_verified":false`, `"email":"invited@ours.example","email_verified":"true"`, `"email":"invited@ours.example","email_verified":1`, `"email":"\u0131nvited@ours.example","email_verified":true`, `"email":"invited@ours.example\u0000","email_verified":true`, `"email":["invited@ours.example"],"email_verified":true`, `"email":" invited@ours.example","email_verified":true`} {
		payload := strings.TrimSuffix(w.raw("sub", `"stranger"`), "}") + "," + more + "}"
		out = append(out, namedToken{"sign-in with " + more, w.issuer.sign(w.issuer.header(), payload)})
	}
	return out
}

// services: a service has the scopes of its token in one spelling, and a user has none.
func services(w *attacksWorld, r *refusals) {
	create := func(name, token string) {
		r.refuse("scope "+name, request("POST", "/api/v1/accounts", `{"id":"acct-new-v1","name":"n","admin":{"email":"n@n.example"}}`, bearer(token)), 403)
	}
	r.unchanged("scopes", func() {
		for _, scope := range []string{"", "platform", "platform:admins", "PLATFORM:ADMIN", "platform:admin,users:sync", "platform:*", "*", "platform:admin\u00a0", "\tplatform:admin", "platform:admin\n", "platform%3aadmin", "admin", "platform: admin", "authz:check", "users:sync authz:check", "\"platform:admin\""} {
			claims := claimsOf("service-attacks")
			claims["scope"] = scope
			create(fmt.Sprintf("%q", scope), w.issuer.sign(w.issuer.header(), encoded(claims)))
		}
		for _, name := range []string{"scopes", "scp", "Scope", "SCOPE", "roles", "permissions", "realm_access"} {
			claims := claimsOf("service-attacks")
			claims[name] = "platform:admin"
			create(name, w.issuer.sign(w.issuer.header(), encoded(claims)))
		}
		claims := claimsOf(w.tenant.admin)
		claims["scope"], claims["roles"], claims["account_id"], claims["groups"] = "platform:admin users:sync authz:check", []string{"account_admin"}, w.foreign.account, []string{w.foreign.group}
		user := w.issuer.sign(w.issuer.header(), encoded(claims))
		create("of a user", user)
		r.refuse("user.create by a user with a scope", request("POST", "/api/v1/users", `{"email":"n@n.example"}`, bearer(user)), 403)
		r.refuse("user.find by a user with a scope", request("GET", "/api/v1/users?email="+w.foreign.bobEmail, "", bearer(user)), 403)
		r.refuse("another account by a claim", request("GET", w.foreign.path("/roles"), "", bearer(user)), 403)
	})
}

// lifecycle: a token lives on, its user doesn't.
func lifecycle(w *attacksWorld, r *refusals) {
	for name, end := range map[string]func(id, uuid string){
		"suspended": func(_, uuid string) {
			w.must(w.t, 200, "PUT", "/api/v1/users/"+uuid, w.tenant.adminToken, `{"status":"SUSPENDED"}`, "X-Account-ID: "+w.tenant.account)
		},
		"inactive": func(_, uuid string) {
			w.must(w.t, 200, "PUT", "/api/v1/users/"+uuid, w.sync, `{"status":"INACTIVE"}`)
		},
	} {
		id := "user-ours" + name + "-v1"
		uuid := w.tenant.newUser(id, name+"@ours.example")
		token := w.user(id)
		_, key := w.tenant.newKey(id, token, `"read","write"`)
		profile := w.tenant.path("/users/" + id + "/profile")
		w.must(w.t, 200, "GET", profile, token, "")
		w.must(w.t, 200, "GET", profile, key, "")
		end(id, uuid)
		r.unjudged(name, func() {
			for range 5 {
				r.refuse("token of a user who is "+name, request("GET", profile, "", bearer(token)), 401)
				r.refuse("key of a user who is "+name, request("GET", profile, "", "X-API-Key: "+key), 401)
				r.refuse("change by a user who is "+name, request("PUT", profile, `{"name":"n"}`, bearer(token)), 401)
			}
		})
	}
}
