package apikeys_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestKeysAreListedNewestFirst(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("api_key.list", areatest.As(acctA, bob), acctA, bob, "", nil), 200, `{"success":true,"data":{"keys":[]}}`)
	raw := make([]string, 3)
	ids := make([]string, 3)
	for i := range ids {
		body := areatest.Object{"key_name": string(rune('a' + i)), "scopes": []string{"read"}}
		if i == 1 {
			body["expires_at"] = (w.now() + minute).String()
		}
		got := w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", body)
		w.Expect(got, 201)
		raw[i], ids[i] = got.Str("data.raw_key"), got.Str("data.id")
		w.Clock.Add(1000)
	}
	w.made(acctA, alice)
	w.uses.Note(ids[0], areatest.Start+5)
	must.Do(t, w.uses.Flush(t.Context()))
	w.Clock.Store(int64(areatest.Start + 1000 + minute)) // the end of the second one
	w.Expect(w.call("api_key.revoke", areatest.As(acctA, bob), acctA, bob, ids[2], nil), 200)
	got := w.call("api_key.list", areatest.As(acctA, bob), acctA, bob, "", nil)
	masked := func(i int) string {
		return `"masked_key":"pcl_sk_…` + raw[i][len(raw[i])-4:] + `","scopes":["read"],`
	}
	want := `{"success":true,"data":{"keys":[` +
		`{"id":"` + ids[2] + `","key_name":"c",` + masked(2) + `"is_active":false,"created_at":"` + (areatest.Start + 2000).String() + `"},` +
		`{"id":"` + ids[1] + `","key_name":"b",` + masked(1) + `"is_active":false,"created_at":"` + (areatest.Start + 1000).String() + `","expires_at":"` + (areatest.Start + 1000 + minute).String() + `"},` +
		`{"id":"` + ids[0] + `","key_name":"a",` + masked(0) + `"is_active":true,"last_used_at":"` + (areatest.Start + 5).String() + `","created_at":"` + areatest.Start.String() + `"}]}}`
	if got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
	w.Clock.Add(-1)
	if all := w.list(acctA, bob); all[1]["is_active"] != true {
		t.Error("a moment before its end the key is not active")
	}
	if strings.Contains(got.Text, "raw_key") || strings.Contains(got.Text, "hash") {
		t.Error("the list tells more than it may")
	}
}

func TestWhoMaySeeWhoseKeys(t *testing.T) {
	w := newWorld(t)
	_, bobs := w.made(acctA, bob)
	_, beas := w.made(acctB, bea)
	_, gone := w.made(acctA, bob)
	w.Expect(w.call("api_key.revoke", areatest.As(acctA, bob), acctA, bob, gone, nil), 200)
	_, carols := w.made(acctA, carol)
	readOnly := keyCaller(acctA, carol, carols)
	readOnly.KeyScopes = []string{resources.KeyScopeRead}
	writeOnly := keyCaller(acctA, carol, carols)
	writeOnly.KeyScopes = []string{resources.KeyScopeWrite}
	for name, tc := range map[string]struct {
		caller        resources.Principal
		account, user string
		status        int
		text          string
	}{
		"200 oneself":                           {areatest.As(acctA, bob), acctA, bob, 200, bobs},
		"200 oneself with a key":                {keyCaller(acctA, bob, bobs), acctA, bob, 200, bobs},
		"200 an admin":                          {areatest.As(acctA, alice), acctA, bob, 200, bobs},
		"200 a reader":                          {areatest.As(acctA, carol), acctA, bob, 200, bobs},
		"200 a reader with a read key":          {readOnly, acctA, bob, 200, bobs},
		"403 a reader with a write key":         {writeOnly, acctA, bob, 403, "AUTH_003"},
		"403 with a key revoked meanwhile":      {keyCaller(acctA, bob, gone), acctA, bob, 403, "AUTH_003"},
		"403 with another's key id":             {keyCaller(acctA, bob, carols), acctA, bob, 403, "AUTH_003"},
		"403 a member about another":            {areatest.As(acctA, bob), acctA, alice, 403, "AUTH_003"},
		"403 a member about nobody":             {areatest.As(acctA, bob), acctA, absent, 403, "AUTH_003"},
		"403 oneself by UUID":                   {areatest.As(acctA, bob), acctA, "uuid-" + bob, 403, "AUTH_003"},
		"404 an admin, by UUID":                 {areatest.As(acctA, alice), acctA, "uuid-" + bob, 404, "USER_001"},
		"404 an admin about nobody":             {areatest.As(acctA, alice), acctA, absent, 404, "USER_001"},
		"404 an admin about another account":    {areatest.As(acctA, alice), acctA, bea, 404, "USER_001"},
		"403 an admin in another account":       {areatest.As(acctA, alice), acctB, bea, 403, "AUTH_003"},
		"403 an admin in no account":            {areatest.As(acctA, alice), absent, bea, 403, "AUTH_003"},
		"403 oneself in another account":        {areatest.As(acctB, bea), acctA, bea, 403, "AUTH_003"},
		"403 a service":                         {resources.Principal{Kind: resources.PrincipalService, ID: bob}, acctA, bob, 403, "AUTH_003"},
		"403 a service of an admin's id":        {resources.Principal{Kind: resources.PrincipalService, ID: alice}, acctA, bob, 403, "AUTH_003"},
		"200 another account's admin, at home":  {areatest.As(acctB, bea), acctB, bea, 200, beas},
		"403 another account's admin, not home": {areatest.As(acctB, bea), acctA, bob, 403, "AUTH_003"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.subTest(t)
			w.Expect(w.call("api_key.list", tc.caller, tc.account, tc.user, "", nil), tc.status, tc.text)
		})
	}
	// What is not there and what is another's is answered alike.
	for _, pair := range [][2]areatest.Answer{
		{w.call("api_key.list", areatest.As(acctA, alice), acctA, bea, "", nil), w.call("api_key.list", areatest.As(acctA, alice), acctA, absent, "", nil)},
		{w.call("api_key.list", areatest.As(acctA, alice), acctB, bea, "", nil), w.call("api_key.list", areatest.As(acctA, alice), absent, bea, "", nil)},
		{w.call("api_key.list", areatest.As(acctA, bob), acctA, alice, "", nil), w.call("api_key.list", areatest.As(acctA, bob), acctA, absent, "", nil)},
	} {
		if strings.ReplaceAll(pair[0].Text, acctB, absent) != pair[1].Text {
			t.Errorf("%s\n%s", pair[0].Text, pair[1].Text)
		}
	}
	w.Expect(w.call("?api_key.list page=1", areatest.As(acctA, bob), acctA, bob, "", nil), 400, "page: unknown")
	w.Expect(w.call("api_key.list", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"x": 1}), 400, "x: unknown")
	w.ChangeUser(bob, func(u *resources.User) { u.Status = resources.StatusSuspended })
	w.Expect(w.call("api_key.list", areatest.As(acctA, bob), acctA, bob, "", nil), 403)
	w.Expect(w.call("api_key.list", areatest.As(acctA, alice), acctA, bob, "", nil), 200, bobs)
	w.SetAccount(acctA, resources.StatusSuspended)
	w.Expect(w.call("api_key.list", areatest.As(acctA, alice), acctA, alice, "", nil), 403)
}
