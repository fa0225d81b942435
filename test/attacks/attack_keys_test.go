package attacks_test

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// keyAttacks: keys that were never made, are over or were taken back look the same; a key does
// what its scopes say on every endpoint of the document, and never makes another one; its secret
// is in one answer alone.
func keyAttacks(w *attacksWorld, r *refusals) {
	list := operations(w)
	id, revoked := w.tenant.newKey(w.tenant.admin, w.tenant.adminToken, `"read","write"`)
	w.tenant.make(200, "DELETE", "/users/"+w.tenant.admin+"/keys/"+id, "")
	r.unjudged("keys that are none", func() { deadKeys(w, r, revoked) })
	r.unchanged("scopes", func() { scopes(w, r, list) })
	r.unchanged("keys of others", func() { othersKeys(w, r) })
	r.unchanged("dead keys on every endpoint", func() { deadEverywhere(w, r, list, revoked) })
	r.unchanged("dead credentials at the doors", func() { doorsWithoutCredential(w, r, revoked) })
	onceOnly(w, r)
}

// deadKeys get one and the same answer, byte for byte.
func deadKeys(w *attacksWorld, r *refusals, revoked string) {
	tenant, good := w.tenant, w.tenant.keySecret
	secret, sum := len(keyPrefix)+26, len(good)-7
	keys := map[string]string{
		"revoked": revoked, "malformed": good[:len(keyPrefix)] + strings.Repeat("0", len(good)-len(keyPrefix)), "unknown": unknownKey(good), "another's secret": summed(good[:secret] + revoked[secret:sum]), "another's id": summed(revoked[:secret] + good[secret:sum]), "no secret": summed(good[:secret] + strings.Repeat("0", sum-secret)), "another checksum": good[:sum] + "0000000",
		"cut": good[:len(good)-1], "longer": good + "0", "twice": good + good, "in upper case": strings.ToUpper(good),
		"without its prefix": strings.TrimPrefix(good, keyPrefix), "only a prefix": keyPrefix, "of a test": "pcl_sk_test_" + strings.TrimPrefix(good, keyPrefix), "masked": "pcl_sk_\u2026" + good[len(good)-4:], "quoted": `"` + good + `"`, "with an operator": `{"$ne":""}`, "with a wild card": keyPrefix + "*", "huge": keyPrefix + strings.Repeat("a", 10_000),
		"a token": tenant.adminToken, "its id": tenant.key, "with NUL": good + "%00", "in wide letters": "\uff50" + good[1:], "with a comma": good + "," + good, "Bearer": "Bearer " + good,
	}
	for index := len(keyPrefix); index < len(good); index++ {
		keys[fmt.Sprintf("with another letter at %d", index)] = good[:index] + string("01"[(good[index]-'0')&1^1]) + good[index+1:]
	}
	for index := len(keyPrefix); index < sum; index += 3 {
		keys[fmt.Sprintf("with another letter at %d and its checksum", index)] = summed(good[:index] + string("01"[(good[index]-'0')&1^1]) + good[index+1:sum])
	}
	body := ""
	for title, key := range keys {
		for _, line := range []string{"X-API-Key: " + key, bearer(key)} {
			if strings.HasPrefix(line, "Auth") && (title == "a token" || title == "Bearer") || key == good {
				continue // this is not a key
			}
			a := r.refuse("key "+title, request("GET", tenant.path("/roles"), "", line), 401)
			if body == "" {
				body = a.Body
			}
			if a.Body != body {
				r.fault("key %s: another answer than the others: %s, %s", title, a.Body, body)
			}
		}
	}
}

// unknownKey has the form of a key, and is none.
func unknownKey(good string) string {
	return summed(good[:len(keyPrefix)] + strings.Repeat("0", len(good)-len(keyPrefix)-7))
}

// summed adds a key's checksum: anybody with the form can make it.
func summed(body string) string {
	sum, letters := crc32.ChecksumIEEE([]byte(body)), "0123456789abcdefghjkmnpqrstvwxyz"
	var out [7]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = letters[sum&31]
		sum >>= 5
	}
	return body + string(out[:])
}

// scopes guarantees that reads need a key with read, and everything else one with write; api_key.create takes none.
func scopes(w *attacksWorld, r *refusals, list []operation) {
	for _, o := range list {
		g, ok := w.granted(o)
		if o.public || o.private || o.door() || !ok || g.token != w.tenant.adminToken {
			continue
		}
		wrong := w.tenant.readKey
		if o.method == "GET" {
			wrong = w.tenant.writeKey
		}
		for _, line := range []string{bearer(wrong), "X-API-Key: " + wrong, bearer(w.tenant.adminToken) + "\r\nX-API-Key: " + wrong} {
			raw := strings.Replace(g.raw(wrong), bearer(wrong), line, 1)
			r.send(fmt.Sprintf("%s with a key of another scope (%.12s)", o.route, line), raw, 403)
		}
		if o.route == "api_key.create" && o.keys {
			r.fault("the document says that api_key.create takes keys")
		}
		if o.route == "api_key.create" {
			for _, key := range []string{w.tenant.keySecret, w.tenant.readKey, w.tenant.writeKey} {
				r.send("api_key.create with a key", g.raw(key), 403)
			}
		}
	}
	for key, action := range map[string]string{w.tenant.readKey: "project:instance:update", w.tenant.writeKey: "project:instance:read"} {
		raw := strings.Replace(w.question("/api/v1/authorize/projects/"+w.tenant.project+"/x"), bearer(w.checker), bearer(key), 1)
		r.denied("authorization.check about its owner by a key of another scope", raw, action)
	}
	raw := request("PUT", w.tenant.path("/roles/account_reader/assignments/"+w.tenant.bob), "{}", bearer(w.tenant.readKey))
	r.send("a grant by a key that may only read", raw, 403)
	raw = request("PUT", w.tenant.path("/roles/account_reader/assignments/"+w.tenant.bob), "{}", bearer(w.tenant.writeKey))
	r.send("a grant of what a key that may only write does not have", raw, 403)
	raw = request("POST", w.tenant.path("/roles"), `{"name":"by a key","scope":"ACCOUNT","permissions":["account:user:read"]}`, bearer(w.tenant.writeKey))
	r.send("a role of what a key that may only write does not have", raw, 403)
}

// othersKeys are not found, and not told from such as never were (the matrix of tenancy has more).
func othersKeys(w *attacksWorld, r *refusals) {
	tenant, foreign := w.tenant, w.foreign
	for _, c := range []struct{ token, user, key string }{
		{tenant.bobToken, tenant.admin, tenant.key}, {tenant.bobToken, foreign.bob, foreign.bobKey}, {tenant.adminToken, tenant.admin, tenant.bobKey}, {tenant.adminToken, tenant.admin, foreign.key}, {tenant.adminToken, tenant.bob, tenant.key}, {tenant.keySecret, foreign.admin, foreign.key}, {tenant.bobToken, tenant.bob, tenant.key},
	} {
		var bodies []string
		for _, key := range []string{c.key, "apikey-00000000000000000000000000-v1"} {
			a := r.decided("api_key.revoke of "+key, request("DELETE", tenant.path("/users/"+c.user+"/keys/"+key), "", bearer(c.token)))
			bodies = append(bodies, fmt.Sprint(a.Status, strings.ReplaceAll(a.Body, key, "KEY")))
			if a.Status != 403 && a.Status != 404 {
				r.fault("api_key.revoke of %s below %s: %d %s", key, c.user, a.Status, a.Body)
			}
		}
		if bodies[0] != bodies[1] {
			r.fault("api_key.revoke tells which key exists: %q", bodies)
		}
	}
}

// deadEverywhere: no endpoint does anything for a key that was taken back.
func deadEverywhere(w *attacksWorld, r *refusals, list []operation, revoked string) {
	for _, o := range list {
		g, ok := w.granted(o)
		if o.public || o.private || o.door() || !ok {
			continue
		}
		for _, key := range []string{revoked, unknownKey(revoked), w.tenant.adminToken + "x", "x"} {
			r.send(o.route+" with a dead credential", g.raw(key), 401)
		}
	}
}

// onceOnly: the answer that shows a key may not be kept, and no other shows it.
func onceOnly(w *attacksWorld, r *refusals) {
	tenant := w.tenant
	target, body := tenant.path("/users/"+tenant.admin+"/keys"), `{"key_name":"once","scopes":["read"]}`
	a, err := w.decided(request("POST", target, body, bearer(tenant.adminToken), "Idempotency-Key: once"))
	r.cases++
	if err != nil || a.Status != 201 || !slices.Contains(a.Header.Values("Cache-Control"), "no-store") {
		r.fault("api_key.create: %v %d %v", err, a.Status, a.Header)
		return
	}
	start := strings.Index(a.Body, keyPrefix)
	secret := a.Body[start+len(keyPrefix)+26 : start+strings.IndexByte(a.Body[start:], '"')]
	w.marks.add("the key that is shown once", secret)
	r.refuse("api_key.create again with its Idempotency-Key", request("POST", target, body, bearer(tenant.adminToken), "Idempotency-Key: once"), 409)
	r.refuse("api_key.list", request("GET", target, "", bearer(tenant.adminToken)), 200)
	r.refuse("api_key.create by it", request("POST", target, body, bearer(a.Body[start:start+strings.IndexByte(a.Body[start:], '"')])), 403)
}
