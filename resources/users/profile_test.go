package users_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestProfileIsReadAndRenamedByItsOwner(t *testing.T) {
	w := newWorld(t)
	const want = `{"user":{"id":"user-bob-v1","email":"user-bob-v1@example.com","name":"Name of user-bob-v1","status":"ACTIVE","is_verified":false,` +
		`"created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"},"account_id":"acct-a-v1"}`
	for _, id := range []string{bob, "uuid-" + bob} {
		if got := w.call("user_profile.get", areatest.As(acctA, bob), acctA, id, nil); got.Text != want {
			t.Errorf("%s: %s", id, got.Text)
		}
	}
	w.Clock.Add(int64(minute))
	rev := w.Revision(acctA)
	renamed := strings.NewReplacer("Name of user-bob-v1", strings.Repeat("é", 255), `"updated_at":"2026-09-21T14:13`, `"updated_at":"2026-09-21T14:14`).Replace(want)
	if got := w.call("user_profile.update", areatest.As(acctA, bob), acctA, bob, areatest.Object{"name": " " + strings.Repeat("é", 255) + "\n"}); got.Text != renamed {
		t.Errorf("%d %s", got.Status, got.Text)
	}
	if got := w.call("user_profile.get", areatest.As(acctA, bob), acctA, bob, nil); got.Text != renamed || w.Revision(acctA) != rev+1 {
		t.Errorf("%s, revision %d after %d", got.Text, w.Revision(acctA), rev)
	}
}

func TestProfileOfAnotherIsForbiddenWhoeverTheyAre(t *testing.T) {
	w := newWorld(t)
	for _, caller := range []resources.Principal{areatest.As(acctA, bob), areatest.As(acctA, alice), syncer(), {}} {
		for _, id := range []string{absent, bea, nora, "uuid-" + bea, ""} {
			for route, body := range map[string]any{"user_profile.update": areatest.Object{"name": "x"}, "user_profile.get": nil} {
				w.Expect(w.call(route, caller, acctA, id, body), 403, "AUTH_003", notOwn)
			}
		}
	}
	w.Expect(w.call("user_profile.get", areatest.As(acctA, bob), acctB, bob, nil), 403, "AUTH_003")
	w.Expect(w.call("user_profile.update", areatest.As(acctA, bob), acctB, bob, areatest.Object{"name": "x"}), 403, "AUTH_003")
	w.Expect(w.call("user_profile.update", areatest.As(acctA, bob), acctA, alice, areatest.Object{"name": ""}), 403, notOwn) // 403 goes before 400
}

const notOwn = "this is not the caller's"

func TestProfileAsksAgainInItsTransaction(t *testing.T) {
	for name, change := range map[string]func(w *usersWorld){
		"user suspended":    func(w *usersWorld) { w.ChangeUser(bob, func(u *resources.User) { u.Status = "SUSPENDED" }) },
		"user moved":        func(w *usersWorld) { w.ChangeUser(bob, func(u *resources.User) { u.AccountID = acctB }) },
		"account suspended": func(w *usersWorld) { w.SetAccount(acctA, resources.StatusSuspended) },
	} {
		w := newWorld(t)
		change(w)
		for route, body := range map[string]any{"user_profile.update": areatest.Object{"name": "x"}, "user_profile.get": nil} {
			if got := w.call(route, areatest.As(acctA, bob), acctA, bob, body); got.Status != 403 {
				t.Errorf("%s: %s: %d %s", name, route, got.Status, got.Text)
			}
		}
		if w.get(bob).Name == "x" {
			t.Errorf("%s: renamed", name)
		}
	}
}

func TestProfileByAKeyIsBoundedByIt(t *testing.T) {
	w := newWorld(t)
	w.key(acctA, bob, "apikey-b-v1")
	body := areatest.Object{"name": "x"}
	w.Expect(w.call("user_profile.get", areatest.By(acctA, bob, "apikey-b-v1", "read"), acctA, bob, nil), 200)
	w.Expect(w.call("user_profile.update", areatest.By(acctA, bob, "apikey-b-v1", "write"), acctA, bob, body), 200)
	w.Expect(w.call("user_profile.get", areatest.By(acctA, bob, "apikey-b-v1", "write"), acctA, bob, nil), 403)
	w.Expect(w.call("user_profile.update", areatest.By(acctA, bob, "apikey-b-v1", "read"), acctA, bob, body), 403)
	w.Expect(w.call("user_profile.get", areatest.By(acctA, bob, "apikey-gone-v1", "read", "write"), acctA, bob, nil), 403)
}

func TestProfileTakesANameAndNothingElse(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		body any
		want string
	}{
		{areatest.Object{}, "name: is missing"},
		{areatest.Object{"name": nil}, "name: is missing"},
		{areatest.Object{"name": ""}, "name: must be 1 to 255"},
		{areatest.Object{"name": " \t\u00a0"}, "name: must be 1 to 255"},
		{areatest.Object{"name": strings.Repeat("é", 256)}, "name: must be 1 to 255"},
		{areatest.Object{"name": []string{"x"}}, "name: must be a string"},
		{areatest.Object{"name": "x", "email": "x@example.com"}, "email: unknown field"},
		{areatest.Object{"Name": "x"}, "Name: unknown field"},
		{`{"name":"x","name":"y"}`, "a name stands twice"},
		{nil, "must be a JSON object"},
	} {
		w.Expect(w.call("user_profile.update", areatest.As(acctA, bob), acctA, bob, c.body), 400, "REQ_001", c.want)
	}
	w.Expect(w.call("user_profile.get", areatest.As(acctA, bob), acctA, bob, areatest.Object{"name": "x"}), 400, "name: unknown field")
	if w.get(bob).Name != "Name of "+bob {
		t.Error("renamed")
	}
}
