package users_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// page asks for a page of A's users and gives their ids and the token of the next one.
func (w *usersWorld) page(query string) (ids []string, total, next string) {
	w.T.Helper()
	r := ask(areatest.As(acctA, bob), acctA, "", nil)
	r.Query = query
	got := w.Ask("user.list", r)
	w.Expect(got, 200, `"message":"`)
	for _, u := range got.Body["users"].([]any) {
		ids = append(ids, u.(map[string]any)["id"].(string))
	}
	return ids, fmt.Sprint(got.Body["total"]), got.Body["next_page_token"].(string)
}

func TestUsersAreListedInTheOrderOfTheirMembership(t *testing.T) {
	w := newWorld(t)
	w.ChangeUser(alice, func(u *resources.User) {
		u.AuthenticationType, u.AuthenticationPartner, u.AuthenticationPartnerID = "google-oauth2", "OIDC", "auth0|1"
		u.IsVerified, u.ProfilePicURL, u.Metadata = true, "https://example.com/a.png", []byte(`{"secret":1}`)
	})
	w.Clock.Add(int64(minute))
	w.Expect(w.invite(acctA, nora+"@example.com"), 200)
	w.ChangeUser(bob, func(u *resources.User) { u.MemberSince = areatest.Start + 2*minute })
	const times = `"created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:1%d:20.000Z","authentication_type":"%s"`
	want := `{"users":[{"id":"user-alice-v1","email":"user-alice-v1@example.com","name":"Name of user-alice-v1","profile_pic_url":"https://example.com/a.png",` +
		`"status":"ACTIVE","is_verified":true,` + fmt.Sprintf(times, 3, "google-oauth2") + `,"authentication_partner":"OIDC","authentication_partner_id":"auth0|1"},` +
		`{"id":"user-nora-v1","email":"user-nora-v1@example.com","name":"Name of user-nora-v1","status":"ACTIVE","is_verified":false,` + fmt.Sprintf(times, 4, "unknown") + `},` +
		`{"id":"user-bob-v1","email":"user-bob-v1@example.com","name":"Name of user-bob-v1","status":"ACTIVE","is_verified":false,` + fmt.Sprintf(times, 3, "unknown") + `}],` +
		`"total":3,"message":"The users of the account.","next_page_token":""}`
	if got := w.call("user.list", areatest.As(acctA, bob), acctA, "", nil); got.Text != want {
		t.Errorf("%s\nwant %s", got.Text, want)
	}
}

func TestUsersAreListedByToken(t *testing.T) {
	w := newWorld(t)
	for i := range 149 {
		w.AddUser(acctA, fmt.Sprintf("user-m%03d-v1", i), resources.StatusActive)
	}
	seen := map[string]bool{}
	next := ""
	for _, n := range []int{100, 51} { // the default page is the largest
		var ids []string
		var total string
		ids, total, next = w.page("page_token=" + url.QueryEscape(next))
		if len(ids) != n || total != "151" {
			t.Errorf("%d of %s", len(ids), total)
		}
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != 151 || next != "" || seen[bea] || seen[nora] {
		t.Errorf("%d users, then %q", len(seen), next)
	}
	_, _, next = w.page("page_size=1")
	ids, _, _ := w.page("page_size=3&page_token=" + url.QueryEscape(next))
	if len(ids) != 3 || ids[0] != bob {
		t.Error(ids)
	}
	for query, want := range map[string]string{
		"page_size=0": "page_size: ", "page_size=101": "page_size: ", "page_size=1e1": "page_size: ", "page_size=": "page_size: ",
		"page_token=x": "page_token: ", "status=ACTIVE": "status: unknown", "page_size=1&page_size=2": "page_size: must be sent once",
		"page_token=" + next[:len(next)-1]: "page_token: ",
	} {
		r := ask(areatest.As(acctA, bob), acctA, "", nil)
		r.Query = query
		w.Expect(w.Ask("user.list", r), 400, "REQ_001", want)
	}
	r := ask(areatest.As(acctB, bea), acctB, "", nil)
	r.Query = "page_token=" + url.QueryEscape(next)
	w.Expect(w.Ask("user.list", r), 400, "page_token: ") // another account's
	w.Expect(w.call("user.list", areatest.As(acctA, bob), "acct-empty-v1", "", nil), 200, `{"users":[],"total":0,`)
}

// TestTheTotalFollowsEveryChange guarantees that a list has the total of its own account, of the current revision.
func TestTheTotalFollowsEveryChange(t *testing.T) {
	w := newWorld(t)
	want := func(account, user, total string) {
		t.Helper()
		for range 2 {
			w.Expect(w.call("user.list", areatest.As(account, user), account, "", nil), 200, `"total":`+total+`,`)
		}
	}
	want(acctA, bob, "2")
	want(acctB, bea, "1")
	w.Expect(w.invite(acctA, "one@example.com"), 200)
	want(acctA, bob, "3")
	w.Expect(w.invite(acctB, "two@example.com"), 200)
	want(acctB, bea, "2")
	want(acctA, bob, "3")
	w.Expect(w.call("user.remove", areatest.As(acctA, alice), acctA, bob, nil), 200)
	want(acctA, alice, "2")
}
