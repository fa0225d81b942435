package apikeys_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestAKeyIsMade(t *testing.T) {
	w := newWorld(t)
	before := w.Revision(acctA)
	got := w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "Größe 1", "scopes": []string{"write", "read"}, "expires_at": (areatest.Start + 1).String()})
	w.Expect(got, 201)
	raw := got.Str("data.raw_key")
	id, ok := resources.ParseAPIKey(raw)
	want := `{"success":true,"data":{"id":"` + id + `","key_name":"Größe 1","raw_key":"` + raw + `","scopes":["write","read"],` +
		`"created_at":"` + areatest.Start.String() + `","expires_at":"` + (areatest.Start + 1).String() + `"}}`
	if !ok || got.Text != want || got.ShownOnce != id {
		t.Errorf("got  %s\nwant %s\nshown once: %q", got.Text, want, got.ShownOnce)
	}
	if w.Revision(acctA) != before+1 {
		t.Error("the revision did not move by one")
	}
	got = w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": strings.Repeat("ß", 100), "scopes": []string{"read"}, "expires_at": nil})
	w.Expect(got, 201)
	if strings.Contains(got.Text, "expires_at") {
		t.Errorf("a key without an end: %s", got.Text)
	}
	w.Expect(w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "x", "scopes": []string{"write"}, "expires_at": "2999-12-31T23:59:59.5+01:00"}), 201,
		`"key_name":"x"`, `"scopes":["write"]`, `"expires_at":"2999-12-31T22:59:59.500Z"`)
	w.Expect(w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "CI / deploy <\"&> 'x'", "scopes": []string{"read", "write"}}), 201,
		`"key_name":"CI / deploy <\"&> 'x'"`, `"scopes":["read","write"]`)
}

func TestWhatAKeyIsRefusedFor(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		change   areatest.Object
		problems []string
	}{
		"name missing":       {areatest.Object{"key_name": nil}, []string{"key_name: is missing"}},
		"name empty":         {areatest.Object{"key_name": ""}, []string{"key_name: must not be empty"}},
		"name too long":      {areatest.Object{"key_name": strings.Repeat("ß", 101)}, []string{"key_name: must have 1 to 100"}},
		"name blank":         {areatest.Object{"key_name": " "}, []string{"key_name: must not begin"}},
		"name with a break":  {areatest.Object{"key_name": "x\ny"}, []string{"key_name: must not hold"}},
		"name a number":      {areatest.Object{"key_name": 1}, []string{"key_name: must be a string"}},
		"scopes missing":     {areatest.Object{"scopes": nil}, []string{"scopes: is missing"}},
		"scopes none":        {areatest.Object{"scopes": []string{}}, []string{"scopes: must name"}},
		"scopes a string":    {areatest.Object{"scopes": "read"}, []string{"scopes: must be an array"}},
		"scopes an object":   {areatest.Object{"scopes": areatest.Object{"$in": []string{"read"}}}, []string{"scopes: must be an array"}},
		"scope unknown":      {areatest.Object{"scopes": []string{"read", "admin"}}, []string{"scopes: must hold nothing but"}},
		"scope in capitals":  {areatest.Object{"scopes": []string{"READ"}}, []string{"scopes: must hold nothing but"}},
		"scope empty":        {areatest.Object{"scopes": []string{""}}, []string{"scopes: must hold nothing but"}},
		"scope a number":     {areatest.Object{"scopes": []any{1}}, []string{"scopes[0]: must be a string"}},
		"scope twice":        {areatest.Object{"scopes": []string{"read", "write", "read"}}, []string{"scopes: must not name read twice"}},
		"an end now":         {areatest.Object{"expires_at": areatest.Start.String()}, []string{"expires_at: must be in the future"}},
		"an end of before":   {areatest.Object{"expires_at": "1969-01-01T00:00:00Z"}, []string{"expires_at: must be in the future"}},
		"an end that is not": {areatest.Object{"expires_at": "soon"}, []string{"expires_at: must be a date-time"}},
		"an end as a number": {areatest.Object{"expires_at": 1900000000000}, []string{"expires_at: must be a string"}},
		"unknown fields":     {areatest.Object{"id": "x", "raw_key": "y", "is_active": true}, []string{"id: unknown", "raw_key: unknown", "is_active: unknown"}},
		"all at once":        {areatest.Object{"key_name": "", "scopes": []string{}, "expires_at": "x", "z": 1}, []string{"key_name:", "scopes:", "expires_at:", "z:"}},
	} {
		t.Run("400 "+name, func(t *testing.T) {
			w := w.subTest(t)
			body := areatest.Object{"key_name": "n", "scopes": []string{"read"}}
			for k, v := range tc.change {
				body[k] = v
			}
			got := w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", body)
			w.Expect(got, 400, append(tc.problems, `"REQ_001"`)...)
			if len(got.Err.Problems) != len(tc.problems) {
				t.Errorf("%d problems: %s", len(got.Err.Problems), got.Text)
			}
		})
	}
	w.Expect(w.call("?api_key.create x=1", areatest.As(acctA, bob), acctA, bob, "", nil), 400, "x: unknown query", "the body must be")
	w.Expect(w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", `{"key_name":"a","scopes":["read"],"scopes":["write"]}`), 400, "twice")
	if got := w.list(acctA, bob); len(got) != 0 {
		t.Errorf("something was made: %v", got)
	}
}

func TestWhoMayNotMakeAKey(t *testing.T) {
	w := newWorld(t)
	_, self := w.made(acctA, alice)
	service := resources.Principal{Kind: resources.PrincipalService, ID: alice, Scopes: []string{resources.ServiceScopeUsers}, Credential: resources.CredentialToken}
	before := w.Revision(acctA)
	for name, tc := range map[string]struct {
		caller        resources.Principal
		account, user string
	}{
		"with a key":                       {keyCaller(acctA, alice, self), acctA, alice},
		"with no credential":               {resources.Principal{Kind: resources.PrincipalUser, ID: alice, Credential: resources.CredentialNone}, acctA, alice},
		"an admin for another":             {areatest.As(acctA, alice), acctA, bob},
		"an admin for nobody":              {areatest.As(acctA, alice), acctA, absent},
		"by one's UUID":                    {areatest.As(acctA, alice), acctA, "uuid-" + alice},
		"in another account":               {areatest.As(acctA, alice), acctB, alice},
		"in no account":                    {areatest.As(acctA, alice), absent, alice},
		"a service":                        {service, acctA, alice},
		"nobody":                           {resources.Principal{}, acctA, ""},
		"another account's admin":          {areatest.As(acctB, bea), acctA, bea},
		"a user who is not there any more": {areatest.As(acctA, absent), acctA, absent},
	} {
		t.Run("403 "+name, func(t *testing.T) {
			w := w.subTest(t)
			// A refusal comes before the body is looked at.
			for _, body := range []any{areatest.Object{"key_name": "n", "scopes": []string{"read"}}} {
				w.Expect(w.call("api_key.create", tc.caller, tc.account, tc.user, "", body), 403, `"AUTH_003"`)
			}
		})
	}
	w.Expect(w.call("api_key.create", keyCaller(acctA, alice, self), acctA, alice, "", "{"), 403)
	for name, change := range map[string]func(){
		"suspended user": func() { w.ChangeUser(bob, func(u *resources.User) { u.Status = resources.StatusSuspended }) },
		"moved user": func() {
			w.ChangeUser(bob, func(u *resources.User) { u.Status, u.AccountID = resources.StatusActive, acctB })
		},
	} {
		change()
		before = w.Revision(acctA)
		t.Run("403 "+name, func(t *testing.T) {
			w := w.subTest(t)
			w.Expect(w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "n", "scopes": []string{"read"}}), 403)
		})
	}
	w.SetAccount(acctA, resources.StatusSuspended)
	w.Expect(w.call("api_key.create", areatest.As(acctA, alice), acctA, alice, "", areatest.Object{"key_name": "n", "scopes": []string{"read"}}), 403)
	if got := w.Revision(acctA); got != before+1 {
		t.Errorf("a refusal moved the revision from %d to %d", before+1, got)
	}
}

// fill gives the user n keys that were made at start, ended or not.
func (w *keysWorld) fill(user string, n int, change func(i int, k *resources.APIKey)) {
	w.T.Helper()
	w.write(acctA, func(ctx context.Context, tx store.Tx) error {
		for i := range n {
			k := resources.APIKey{
				ID: fmt.Sprintf("apikey-%s-%04d-v1", user, i), AccountID: acctA, UserID: user, Name: "n", Scopes: []string{"read"},
				Hash: []byte{1}, CreatedAt: areatest.Start + resources.Time(i),
			}
			change(i, &k)
			if err := w.Collections.APIKeys.Insert(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAUserHasAtMostFiftyActiveKeys(t *testing.T) {
	w := newWorld(t)
	w.fill(bob, 49, func(int, *resources.APIKey) {})
	w.fill(carol, 60, func(i int, k *resources.APIKey) {
		k.RevokedAt, k.ExpiresAt = areatest.Start*resources.Time(i%2), areatest.Start*resources.Time(1-i%2)
	})
	_, id := w.made(acctA, bob)
	refused := w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "n", "scopes": []string{"read"}})
	w.Expect(refused, 409, `"USER_002"`, "50")
	w.made(acctA, carol) // what ended or was revoked does not count
	w.made(acctA, alice) // nor do the keys of others
	w.Expect(w.call("api_key.revoke", areatest.As(acctA, bob), acctA, bob, id, nil), 200)
	_, _ = w.made(acctA, bob)
	w.Expect(w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "n", "scopes": []string{"read"}}), 409)
	if got := w.list(acctA, bob); len(got) != 51 {
		t.Errorf("%d keys are listed", len(got))
	}
}

func TestManyAtTheLimitMakeOne(t *testing.T) {
	w := newWorld(t)
	w.fill(bob, 49, func(int, *resources.APIKey) {})
	statuses := make([]int, 12)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			_, err := w.Routes["api_key.create"](t.Context(), &wire.Request{
				Principal: areatest.As(acctA, bob), Params: map[string]string{"account_id": acctA, "user_id": bob},
				Body: []byte(`{"key_name":"n","scopes":["read"]}`),
			})
			if err != nil {
				statuses[i] = wire.Status(resources.AsError(err).Kind)
			}
		})
	}
	wg.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	if count[0] != 1 || count[409] != len(statuses)-1 || len(w.list(acctA, bob)) != 50 {
		t.Errorf("%v, %d keys", count, len(w.list(acctA, bob)))
	}
}

// TestOldEndedKeysGo: a thousand are kept, and none of them that can be used goes.
func TestOldEndedKeysGo(t *testing.T) {
	w := newWorld(t)
	w.fill(bob, 1001, func(i int, k *resources.APIKey) {
		if i != 0 {
			k.RevokedAt = areatest.Start
		}
	})
	oldest := "apikey-" + bob + "-0001-v1"
	w.write(acctA, func(ctx context.Context, tx store.Tx) error {
		return w.Collections.KeyUses.Insert(ctx, tx, records.KeyUse{KeyID: oldest, LastUsedAt: areatest.Start})
	})
	w.Clock.Add(int64(minute))
	_, id := w.made(acctA, bob)
	all := w.list(acctA, bob)
	if len(all) != 1000 || all[0]["id"] != id || all[999]["id"] != "apikey-"+bob+"-0000-v1" || all[998]["id"] != "apikey-"+bob+"-0003-v1" {
		t.Errorf("%d keys from %v to %v and %v", len(all), all[0]["id"], all[len(all)-2]["id"], all[len(all)-1]["id"])
	}
	w.write(acctA, func(ctx context.Context, tx store.Tx) error {
		if _, err := w.Collections.KeyUses.Get(ctx, tx, oldest); err == nil {
			t.Error("the last use of a forgotten key is kept")
		}
		return nil
	})
}

// TestTheRawKeyIsKeptNowhere: neither it nor its secret is in a file of the store.
func TestTheRawKeyIsKeptNowhere(t *testing.T) {
	w := newWorld(t)
	raw, id := w.made(acctA, bob)
	w.uses.Note(id, areatest.Start)
	must.Do(t, w.uses.Flush(t.Context()))
	w.list(acctA, bob)
	w.Expect(w.call("api_key.revoke", areatest.As(acctA, bob), acctA, bob, id, nil), 200)
	must.Do(t, w.Store.Close())
	const secretAt = len("pcl_sk_live_") + 26
	secret, name := raw[secretAt:len(raw)-7], id[len("apikey-"):len(id)-3]
	foundID := false
	err := filepath.WalkDir(w.Dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(raw)) || bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds the key", filepath.Base(path))
		}
		foundID = foundID || bytes.Contains(content, []byte(name))
		return err
	})
	if err != nil || !foundID {
		t.Errorf("the search does not find the key's id: %v", err)
	}
}
