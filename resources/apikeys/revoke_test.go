package apikeys_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

func (w *world) revoke(who resources.Principal, account, user, id string) answer {
	w.t.Helper()
	return w.call("api_key.revoke", who, account, user, id, nil)
}

func TestAKeyIsRevokedForGood(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	_, other := w.made(acctA, bob)
	before := w.revision(acctA)
	at := w.now()
	for i := range 3 { // a repeat is answered alike, and waits for the same
		got := w.revoke(as(acctA, bob), acctA, bob, id)
		w.expect(got, 200)
		if got.text != `{"success":true,"data":{"message":"The API key is revoked."}}` {
			t.Error(got.text)
		}
		if now := w.revision(acctA); now != before+int64(i)+1 {
			t.Errorf("call %d: revision %d after %d", i, now, before)
		}
		if got := w.record(id).RevokedAt; got != at {
			t.Errorf("call %d: revoked at %d, not %d", i, got, at)
		}
		w.clock.Add(1000)
	}
	for _, k := range w.list(acctA, bob) {
		if k["is_active"] != (k["id"] == other) {
			t.Errorf("%v", k)
		}
	}
	w.expect(w.revoke(by(acctA, bob, other), acctA, bob, other), 200) // itself
	w.expect(w.revoke(by(acctA, bob, other), acctA, bob, other), 403) // and no more
}

func TestWhoMayRevokeWhoseKeys(t *testing.T) {
	w := newWorld(t)
	_, alices := w.made(acctA, alice)
	_, bobs := w.made(acctA, bob)
	_, beas := w.made(acctB, bea)
	for name, tc := range map[string]struct {
		who               resources.Principal
		account, user, id string
		status            int
		code              string
	}{
		"404 an id of nobody":                   {as(acctA, bob), acctA, bob, absent, 404, "KEY_001"},
		"404 another user's id":                 {as(acctA, bob), acctA, bob, alices, 404, "KEY_001"},
		"404 another account's id":              {as(acctA, bob), acctA, bob, beas, 404, "KEY_001"},
		"404 an admin, another user's id":       {as(acctA, alice), acctA, bob, alices, 404, "KEY_001"},
		"404 an admin, another account's id":    {as(acctA, alice), acctA, bob, beas, 404, "KEY_001"},
		"404 an admin, another account's user":  {as(acctA, alice), acctA, bea, beas, 404, "USER_001"},
		"404 an admin, nobody":                  {as(acctA, alice), acctA, absent, bobs, 404, "USER_001"},
		"403 a member, another's":               {as(acctA, bob), acctA, alice, alices, 403, "AUTH_003"},
		"403 a member, nobody's":                {as(acctA, bob), acctA, absent, alices, 403, "AUTH_003"},
		"403 a reader":                          {as(acctA, carol), acctA, bob, bobs, 403, "AUTH_003"},
		"403 an admin's read key":               {readKey(alice, alices), acctA, bob, bobs, 403, "AUTH_003"},
		"403 oneself by UUID":                   {as(acctA, bob), acctA, "uuid-" + bob, bobs, 403, "AUTH_003"},
		"403 an admin elsewhere":                {as(acctA, alice), acctB, bea, beas, 403, "AUTH_003"},
		"403 another account's admin":           {as(acctB, bea), acctA, bob, bobs, 403, "AUTH_003"},
		"403 another account, as the key's one": {as(acctB, bea), acctA, bea, beas, 403, "AUTH_003"},
		"403 a service of an admin's id":        {resources.Principal{Kind: resources.PrincipalService, ID: alice}, acctA, bob, bobs, 403, "AUTH_003"},
		"403 a service":                         {resources.Principal{Kind: resources.PrincipalService, ID: bob}, acctA, bob, bobs, 403, "AUTH_003"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			want := w.revision(tc.account)
			if tc.status == 404 { // as of a key that was revoked, and is not kept any more
				want++
			}
			w.expect(w.revoke(tc.who, tc.account, tc.user, tc.id), tc.status, tc.code)
			if got := w.revision(tc.account); got != want {
				t.Errorf("revision %d, want %d", got, want)
			}
		})
	}
	absentKey := w.revoke(as(acctA, bob), acctA, bob, absent)
	for _, id := range []string{alices, beas} {
		if got := w.revoke(as(acctA, bob), acctA, bob, id); got.text != absentKey.text {
			t.Errorf("%s\n%s", got.text, absentKey.text)
		}
	}
	for account, user := range map[string]string{acctA: bob, acctB: bea} {
		if k := w.list(account, user); len(k) != 1 || k[0]["is_active"] != true {
			t.Errorf("a refusal revoked %v", k)
		}
	}
	w.expect(w.revoke(as(acctA, alice), acctA, bob, bobs), 200)
	w.expect(w.call("?api_key.revoke x=1", as(acctA, bob), acctA, bob, bobs, nil), 400)
	w.expect(w.call("api_key.revoke", as(acctA, bob), acctA, bob, bobs, object{"x": 1}), 400)
}

// TestAKeyStaysInItsAccount: its owner, a member of another account by now, has none there.
func TestAKeyStaysInItsAccount(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	w.setUser(bob, func(u *resources.User) { u.AccountID = acctB })
	if got := w.list(acctB, bob); len(got) != 0 {
		t.Errorf("listed: %v", got)
	}
	w.expect(w.revoke(as(acctB, bob), acctB, bob, id), 404, "KEY_001")
	w.expect(w.revoke(as(acctB, bea), acctB, bob, id), 404, "KEY_001")
	if w.record(id).RevokedAt != 0 {
		t.Error("it is revoked")
	}
}

// record is the key as it is stored.
func (w *world) record(id string) (key resources.APIKey) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), func(tx store.Tx) error {
		rec, err := w.c.APIKeys.Get(w.t.Context(), tx, id)
		key = rec.Value
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

func readKey(user, id string) resources.Principal {
	p := by(acctA, user, id)
	p.KeyScopes = []string{resources.KeyScopeRead}
	return p
}

// TestAnAdminWhoWasDemotedRevokesNothing: the rights of the transaction count.
func TestAnAdminWhoWasDemotedRevokesNothing(t *testing.T) {
	w := newWorld(t)
	_, bobs := w.made(acctA, bob)
	w.setUser(alice, func(u *resources.User) { u.Status = resources.StatusInactive })
	w.expect(w.revoke(as(acctA, alice), acctA, bob, bobs), 403)
	w.setAccount(acctA, resources.StatusSuspended)
	w.expect(w.revoke(as(acctA, bob), acctA, bob, bobs), 403)
	w.setAccount(acctA, resources.StatusActive)
	w.expect(w.revoke(as(acctA, bob), acctA, bob, bobs), 200)
}

func TestErrorsNameTheirRoute(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for route, body := range map[string]string{"api_key.create": `{"key_name":"n","scopes":["read"]}`, "api_key.list": "", "api_key.revoke": ""} {
		_, err := w.routes[route](t.Context(), &wire.Request{
			Principal: as(acctA, bob), Params: map[string]string{"account_id": acctA, "user_id": bob, "id": absent}, Body: []byte(body),
		})
		var e *resources.Error
		if !errors.As(err, &e) || e.Kind != resources.KindUnavailable || !strings.HasPrefix(err.Error(), "apikeys: "+route+": ") {
			t.Errorf("%s: %v", route, err)
		}
	}
}
