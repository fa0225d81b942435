package apikeys_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

func (w *keysWorld) revoke(caller resources.Principal, account, user, id string) areatest.Answer {
	w.T.Helper()
	return w.call("api_key.revoke", caller, account, user, id, nil)
}

func TestAKeyIsRevokedForGood(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	_, other := w.made(acctA, bob)
	before := w.Revision(acctA)
	moment := w.now()
	for i := range 3 { // a repeat is answered alike, and waits for the same
		got := w.revoke(areatest.As(acctA, bob), acctA, bob, id)
		w.Expect(got, 200)
		if got.Text != `{"success":true,"data":{"message":"The API key is revoked."}}` {
			t.Error(got.Text)
		}
		if now := w.Revision(acctA); now != before+int64(i)+1 {
			t.Errorf("call %d: revision %d after %d", i, now, before)
		}
		if got := w.record(id).RevokedAt; got != moment {
			t.Errorf("call %d: revoked at %d, not %d", i, got, moment)
		}
		w.Clock.Add(1000)
	}
	for _, k := range w.list(acctA, bob) {
		if k["is_active"] != (k["id"] == other) {
			t.Errorf("%v", k)
		}
	}
	w.Expect(w.revoke(keyCaller(acctA, bob, other), acctA, bob, other), 200) // itself
	w.Expect(w.revoke(keyCaller(acctA, bob, other), acctA, bob, other), 403) // and no more
}

func TestWhoMayRevokeWhoseKeys(t *testing.T) {
	w := newWorld(t)
	_, alices := w.made(acctA, alice)
	_, bobs := w.made(acctA, bob)
	_, beas := w.made(acctB, bea)
	for name, tc := range map[string]struct {
		caller            resources.Principal
		account, user, id string
		status            int
		code              string
	}{
		"404 an id of nobody":                   {areatest.As(acctA, bob), acctA, bob, absent, 404, "KEY_001"},
		"404 another user's id":                 {areatest.As(acctA, bob), acctA, bob, alices, 404, "KEY_001"},
		"404 another account's id":              {areatest.As(acctA, bob), acctA, bob, beas, 404, "KEY_001"},
		"404 an admin, another user's id":       {areatest.As(acctA, alice), acctA, bob, alices, 404, "KEY_001"},
		"404 an admin, another account's id":    {areatest.As(acctA, alice), acctA, bob, beas, 404, "KEY_001"},
		"404 an admin, another account's user":  {areatest.As(acctA, alice), acctA, bea, beas, 404, "USER_001"},
		"404 an admin, nobody":                  {areatest.As(acctA, alice), acctA, absent, bobs, 404, "USER_001"},
		"403 a member, another's":               {areatest.As(acctA, bob), acctA, alice, alices, 403, "AUTH_003"},
		"403 a member, nobody's":                {areatest.As(acctA, bob), acctA, absent, alices, 403, "AUTH_003"},
		"403 a reader":                          {areatest.As(acctA, carol), acctA, bob, bobs, 403, "AUTH_003"},
		"403 an admin's read key":               {readKey(alice, alices), acctA, bob, bobs, 403, "AUTH_003"},
		"403 oneself by UUID":                   {areatest.As(acctA, bob), acctA, "uuid-" + bob, bobs, 403, "AUTH_003"},
		"403 an admin elsewhere":                {areatest.As(acctA, alice), acctB, bea, beas, 403, "AUTH_003"},
		"403 another account's admin":           {areatest.As(acctB, bea), acctA, bob, bobs, 403, "AUTH_003"},
		"403 another account, as the key's one": {areatest.As(acctB, bea), acctA, bea, beas, 403, "AUTH_003"},
		"403 a service of an admin's id":        {resources.Principal{Kind: resources.PrincipalService, ID: alice}, acctA, bob, bobs, 403, "AUTH_003"},
		"403 a service":                         {resources.Principal{Kind: resources.PrincipalService, ID: bob}, acctA, bob, bobs, 403, "AUTH_003"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.subTest(t)
			want := w.Revision(tc.account)
			if tc.status == 404 { // as of a key that was revoked, and is not kept any more
				want++
			}
			w.Expect(w.revoke(tc.caller, tc.account, tc.user, tc.id), tc.status, tc.code)
			if got := w.Revision(tc.account); got != want {
				t.Errorf("revision %d, want %d", got, want)
			}
		})
	}
	absentKey := w.revoke(areatest.As(acctA, bob), acctA, bob, absent)
	for _, id := range []string{alices, beas} {
		if got := w.revoke(areatest.As(acctA, bob), acctA, bob, id); got.Text != absentKey.Text {
			t.Errorf("%s\n%s", got.Text, absentKey.Text)
		}
	}
	for account, user := range map[string]string{acctA: bob, acctB: bea} {
		if k := w.list(account, user); len(k) != 1 || k[0]["is_active"] != true {
			t.Errorf("a refusal revoked %v", k)
		}
	}
	w.Expect(w.revoke(areatest.As(acctA, alice), acctA, bob, bobs), 200)
	w.Expect(w.call("?api_key.revoke x=1", areatest.As(acctA, bob), acctA, bob, bobs, nil), 400)
	w.Expect(w.call("api_key.revoke", areatest.As(acctA, bob), acctA, bob, bobs, areatest.Object{"x": 1}), 400)
}

// TestAKeyStaysInItsAccount: its owner, a member of another account by now, has none there.
func TestAKeyStaysInItsAccount(t *testing.T) {
	w := newWorld(t)
	_, id := w.made(acctA, bob)
	w.ChangeUser(bob, func(u *resources.User) { u.AccountID = acctB })
	if got := w.list(acctB, bob); len(got) != 0 {
		t.Errorf("listed: %v", got)
	}
	w.Expect(w.revoke(areatest.As(acctB, bob), acctB, bob, id), 404, "KEY_001")
	w.Expect(w.revoke(areatest.As(acctB, bea), acctB, bob, id), 404, "KEY_001")
	if w.record(id).RevokedAt != 0 {
		t.Error("it is revoked")
	}
}

// record is the key as it is stored.
func (w *keysWorld) record(id string) (key resources.APIKey) {
	w.T.Helper()
	must.Do(w.T, w.Store.View(w.T.Context(), func(tx store.Tx) error {
		rec, err := w.Collections.APIKeys.Get(w.T.Context(), tx, id)
		key = rec.Value
		return err
	}))
	return key
}

func readKey(user, id string) resources.Principal {
	p := keyCaller(acctA, user, id)
	p.KeyScopes = []string{resources.KeyScopeRead}
	return p
}

// TestAnAdminWhoWasDemotedRevokesNothing: the rights of the transaction count.
func TestAnAdminWhoWasDemotedRevokesNothing(t *testing.T) {
	w := newWorld(t)
	_, bobs := w.made(acctA, bob)
	w.ChangeUser(alice, func(u *resources.User) { u.Status = resources.StatusInactive })
	w.Expect(w.revoke(areatest.As(acctA, alice), acctA, bob, bobs), 403)
	w.SetAccount(acctA, resources.StatusSuspended)
	w.Expect(w.revoke(areatest.As(acctA, bob), acctA, bob, bobs), 403)
	w.SetAccount(acctA, resources.StatusActive)
	w.Expect(w.revoke(areatest.As(acctA, bob), acctA, bob, bobs), 200)
}

func TestErrorsNameTheirRoute(t *testing.T) {
	w := newWorld(t)
	must.Do(t, w.Store.Close())
	for route, body := range map[string]string{"api_key.create": `{"key_name":"n","scopes":["read"]}`, "api_key.list": "", "api_key.revoke": ""} {
		_, err := w.Routes[route](t.Context(), &wire.Request{
			Principal: areatest.As(acctA, bob), Params: map[string]string{"account_id": acctA, "user_id": bob, "id": absent}, Body: []byte(body),
		})
		var e *resources.Error
		if !errors.As(err, &e) || e.Kind != resources.KindUnavailable || !strings.HasPrefix(err.Error(), "apikeys: "+route+": ") {
			t.Errorf("%s: %v", route, err)
		}
	}
}
