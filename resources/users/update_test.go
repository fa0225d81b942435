package users_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestUpdateChangesWhatIsThereAndKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(minute))
	for _, id := range []string{bob, "uuid-" + bob} {
		rev := w.Revision(acctA)
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, id, areatest.Object{"name": "  Böb  "}), 200, `{"message":"`)
		u := w.get(bob)
		if u.Name != "Böb" || u.Email != bob+"@example.com" || u.Status != resources.StatusActive || u.CreatedAt != areatest.Start || u.UpdatedAt != areatest.Start+minute {
			t.Errorf("%s: %+v", id, u)
		}
		if w.Revision(acctA) != rev+1 {
			t.Errorf("%s: revision %d after %d", id, w.Revision(acctA), rev)
		}
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"profile_pic_url": "https://example.com/b.png"}), 200)
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"status": "SUSPENDED", "name": nil}), 200)
	if u := w.get(bob); u.Name != "Böb" || u.ProfilePicURL != "https://example.com/b.png" || u.Status != resources.StatusSuspended {
		t.Errorf("%+v", u)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"profile_pic_url": ""}), 200)
	if u := w.get(bob); u.ProfilePicURL != "" {
		t.Errorf("%+v", u)
	}
	for _, status := range []string{"ACTIVE", "INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING"} {
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"status": status}), 200)
		if got := w.get(bob).Status; got != status {
			t.Error(got)
		}
	}
}

// TestPictureIsCountedInCharacters guarantees what the error and the document say: 2,048 characters, of however many bytes.
func TestPictureIsCountedInCharacters(t *testing.T) {
	w := newWorld(t)
	const address = "https://example.com/"
	longest := address + strings.Repeat("é", 2048-len(address))
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"profile_pic_url": longest}), 200)
	if u := w.get(bob); u.ProfilePicURL != longest {
		t.Errorf("%+v", u)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"profile_pic_url": longest + "é"}), 400, "at most 2048 characters")
}

func TestUpdateIgnoresReadOnlyFields(t *testing.T) {
	w := newWorld(t)
	before := w.get(bob)
	for _, body := range []areatest.Object{
		{"id": "uuid-" + bob, "external_id": "user-x-v1", "created_at": "2020-01-01T00:00:00Z", "updated_at": 7},
		{"id": bob, "account_id": acctA},
	} {
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, body), 200)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, "uuid-"+bob, areatest.Object{"id": bob}), 200)
	if after := w.get(bob); after.ExternalID != before.ExternalID || after.UUID != before.UUID || after.CreatedAt != before.CreatedAt || after.AccountID != acctA {
		t.Errorf("%+v", after)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"id": "uuid-" + alice, "name": ""}), 400, "REQ_001", "id: is not the user in the path", "name: ")
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"account_id": acctB}), 400, "account_id: ")
	w.Expect(w.call("user.update", syncer(), "", nora, areatest.Object{"account_id": acctA}), 400, "account_id: ")
}

func TestUpdateTellsAllProblems(t *testing.T) {
	w := newWorld(t)
	before := w.get(bob)
	for name, c := range map[string]struct {
		caller resources.Principal
		body   any
		want   []string
	}{
		"all at once": {areatest.As(acctA, alice), areatest.Object{
			"name": " ", "profile_pic_url": "javascript:alert(1)", "metadata": []int{1}, "status": "INVITED", "role": "account_admin",
		}, []string{"name: ", "profile_pic_url: ", "metadata: ", "status: must be one of ACTIVE, INACTIVE, SUSPENDED, WAITLISTED, PENDING", "role: unknown field"}},
		"name too long":     {areatest.As(acctA, alice), areatest.Object{"name": strings.Repeat("é", 256)}, []string{"name: "}},
		"name no string":    {areatest.As(acctA, alice), areatest.Object{"name": areatest.Object{"$ne": ""}}, []string{"name: must be a string"}},
		"status unknown":    {areatest.As(acctA, alice), areatest.Object{"status": "active"}, []string{"status: "}},
		"status a number":   {areatest.As(acctA, alice), areatest.Object{"status": 1}, []string{"status: "}},
		"picture too long":  {areatest.As(acctA, alice), areatest.Object{"profile_pic_url": "https://example.com/" + strings.Repeat("a", 2048)}, []string{"profile_pic_url: "}},
		"picture no host":   {areatest.As(acctA, alice), areatest.Object{"profile_pic_url": "https:///a"}, []string{"profile_pic_url: "}},
		"picture password":  {areatest.As(acctA, alice), areatest.Object{"profile_pic_url": "https://a:b@example.com/"}, []string{"profile_pic_url: "}},
		"picture lines":     {areatest.As(acctA, alice), areatest.Object{"profile_pic_url": "https://example.com/\r\nx"}, []string{"profile_pic_url: "}},
		"metadata too big":  {areatest.As(acctA, alice), areatest.Object{"metadata": areatest.Object{"a": strings.Repeat("x", 16<<10)}}, []string{"metadata: must be at most 16384 bytes"}},
		"metadata twice":    {areatest.As(acctA, alice), `{"metadata":{"a":1,"a":2}}`, []string{"a name stands twice"}},
		"no body":           {areatest.As(acctA, alice), nil, []string{"the body must be a JSON object"}},
		"no object":         {areatest.As(acctA, alice), `[]`, []string{"the body must be a JSON object"}},
		"two values":        {areatest.As(acctA, alice), `{} {}`, []string{"something follows"}},
		"email":             {syncer(), areatest.Object{"email": "a@example.com,b@example.com"}, []string{"email: "}},
		"email empty":       {syncer(), areatest.Object{"email": ""}, []string{"email: "}},
		"email folds":       {syncer(), areatest.Object{"email": "bo\u212A@example.com"}, []string{"email: "}},
		"verified":          {syncer(), areatest.Object{"is_verified": "true"}, []string{"is_verified: "}},
		"type":              {syncer(), areatest.Object{"authentication_type": "a b"}, []string{"authentication_type: "}},
		"type too long":     {syncer(), areatest.Object{"authentication_type": strings.Repeat("a", 65)}, []string{"authentication_type: "}},
		"partner":           {syncer(), areatest.Object{"authentication_partner": "oidc"}, []string{"authentication_partner: must be OIDC"}},
		"partner's subject": {syncer(), areatest.Object{"authentication_partner_id": "service-x"}, []string{"authentication_partner_id: "}},
		"subject's lines":   {syncer(), areatest.Object{"authentication_partner_id": "a\nb"}, []string{"authentication_partner_id: "}},
		"blank subject":     {syncer(), areatest.Object{"authentication_partner_id": " "}, []string{"authentication_partner_id: "}},
		"padded subject":    {syncer(), areatest.Object{"authentication_partner_id": "auth0|1 "}, []string{"authentication_partner_id: "}},
		"unseen subject":    {syncer(), areatest.Object{"authentication_partner_id": "auth0|1\u202e"}, []string{"authentication_partner_id: "}},
		"subject too long":  {syncer(), areatest.Object{"authentication_partner_id": strings.Repeat("a", 256)}, []string{"authentication_partner_id: "}},
		"invited by sync":   {syncer(), areatest.Object{"status": "INVITED"}, []string{"status: "}},
	} {
		got := w.subTest(t).call("user.update", c.caller, acctA, bob, c.body)
		if got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Text)
		}
		for _, text := range append(c.want, "REQ_001") {
			if !strings.Contains(got.Text, text) {
				t.Errorf("%s: %q is not in %s", name, text, got.Text)
			}
		}
	}
	r := ask(areatest.As(acctA, alice), acctA, bob, areatest.Object{"name": "x"})
	r.Query = "status=INACTIVE"
	w.Expect(w.Ask("user.update", r), 400, "status: unknown query parameter")
	if after := w.get(bob); after.Name != before.Name || after.Status != before.Status || after.Email != before.Email {
		t.Errorf("%+v", after)
	}
}

func TestUpdateNeedsAnAccountButForASync(t *testing.T) {
	w := newWorld(t)
	for _, caller := range []resources.Principal{areatest.As(acctA, alice), areatest.As("", nora), areatest.Service(resources.ServiceScopeAdmin)} {
		for _, body := range []areatest.Object{{"name": "x"}, {"name": "x", "id": "uuid-" + bea}} {
			w.Expect(w.call("user.update", caller, "", bea, body), 400, "x-account-id: is missing")
		}
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), "", bob, areatest.Object{"name": ""}), 400, "x-account-id: is missing", "name: ")
	rev, none := w.Revision(acctB), w.Revision("")
	w.Expect(w.call("user.update", syncer(), "", bea, areatest.Object{"name": "Bea"}), 200)
	if w.get(bea).Name != "Bea" || w.Revision(acctB) != rev+1 || w.Revision("") != none {
		t.Error("the user's own account is not the one that moved")
	}
	w.Expect(w.call("user.update", syncer(), "", nora, areatest.Object{"name": "Nora", "status": "SUSPENDED"}), 200)
	if u := w.get(nora); u.Name != "Nora" || u.Status != "SUSPENDED" || w.Revision("") != none+1 {
		t.Errorf("%+v", u)
	}
	w.Expect(w.call("user.update", syncer(), "", absent, areatest.Object{"name": "x"}), 404, "USER_001")
}

func TestUpdateOfAForeignUserIsThatOfAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	before := w.get(bea)
	for _, caller := range []resources.Principal{areatest.As(acctA, alice), syncer()} {
		for _, body := range []areatest.Object{{"name": "x"}, {"status": "SUSPENDED"}, {"id": "uuid-" + alice}} {
			want := w.call("user.update", caller, acctA, absent, body)
			for _, id := range []string{bea, "uuid-" + bea, nora} {
				if got := w.call("user.update", caller, acctA, id, body); got.Text != want.Text || got.Status < 400 {
					t.Errorf("%s %v: %s, absent: %s", id, body, got.Text, want.Text)
				}
			}
		}
	}
	w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bea, areatest.Object{"name": "x"}), 404, "USER_001")
	for _, id := range []string{absent, bea, bob, alice} { // bob may not change any of the others
		if id != bob {
			w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, id, areatest.Object{"name": "x"}), 403, "AUTH_003", "no active role of the user grants account:user:update in acct-a-v1")
		}
	}
	if after := w.get(bea); after.Name != before.Name || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("%+v", after)
	}
}

func TestUpdateOfOneselfReachesOwnFieldsOnly(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{bob, "uuid-" + bob} {
		w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, id, areatest.Object{"name": "B", "profile_pic_url": "http://example.com/", "metadata": areatest.Object{}}), 200)
	}
	if u := w.get(bob); u.Name != "B" || u.ProfilePicURL != "http://example.com/" || string(u.Metadata) != "{}" {
		t.Errorf("%+v", u)
	}
	before := w.get(bob)
	sync := []areatest.Object{
		{"email": "b@example.com"}, {"is_verified": true}, {"authentication_type": "x"}, {"authentication_partner": "OIDC"}, {"authentication_partner_id": "sub"},
	}
	for _, body := range append(sync, areatest.Object{"status": "INACTIVE"}) {
		body["name"] = "changed"
		w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, bob, body), 403, "AUTH_003", "the caller may not change ")
	}
	for _, body := range sync { // nor for others, nor for an admin's own record, nor by another service
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, body), 403, "the caller may not change ")
		w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, alice, body), 403, "the caller may not change ")
		w.Expect(w.call("user.update", areatest.Service(resources.ServiceScopeAdmin, resources.ServiceScopeCheck), acctA, bob, body), 403)
	}
	w.Expect(w.call("user.update", areatest.As(acctA, bob), acctA, bob, areatest.Object{"status": "ACTIVE", "email": "b@example.com"}), 403, "may not change status, email")
	if after := w.get(bob); after.Name != before.Name || after.Email != before.Email || after.Status != before.Status || after.IsVerified {
		t.Errorf("%+v", after)
	}
}

func TestUpdateBySyncReachesEverything(t *testing.T) {
	w := newWorld(t)
	none := w.Revision("")
	w.Expect(w.call("user.update", syncer(), acctA, bob, areatest.Object{
		"email": "Robert@Example.com", "is_verified": true, "authentication_type": "google-oauth2", "authentication_partner": "OIDC",
		"authentication_partner_id": "auth0|1", "status": "SUSPENDED", "name": "Robert",
	}), 200)
	u := w.get(bob)
	if u.Email != "Robert@Example.com" || !u.IsVerified || u.AuthenticationType != "google-oauth2" || u.AuthenticationPartner != "OIDC" ||
		u.AuthenticationPartnerID != "auth0|1" || u.Status != "SUSPENDED" || u.Name != "Robert" {
		t.Errorf("%+v", u)
	}
	if w.Revision("") != none+1 {
		t.Error("a change of what is unique among all users did not meet the others")
	}
	w.Expect(w.call("user.update", syncer(), acctA, bob, areatest.Object{"email": "ROBERT@example.com", "authentication_partner_id": "auth0|1"}), 200)
	w.Expect(w.call("user.update", syncer(), acctA, bob, areatest.Object{"authentication_partner_id": ""}), 200)
	if u := w.get(bob); u.AuthenticationPartner != "" || u.AuthenticationPartnerID != "" || u.Email != "ROBERT@example.com" {
		t.Errorf("%+v", u)
	}
	for _, self := range []string{bob, "uuid-" + bob} { // names of one's own are nobody else's
		w.Expect(w.call("user.update", syncer(), acctA, bob, areatest.Object{"authentication_partner_id": self}), 200)
		if u := w.get(bob); u.AuthenticationPartner != "OIDC" || u.AuthenticationPartnerID != self {
			t.Errorf("%+v", u)
		}
	}
}

func TestUpdateRefusesWhatIsSomebodyElses(t *testing.T) {
	w := newWorld(t)
	w.ChangeUser(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|bea" })
	before := w.get(bob)
	for _, body := range []areatest.Object{
		{"email": "USER-bea-v1@EXAMPLE.com"},
		{"authentication_partner_id": "auth0|bea"},
		{"authentication_partner_id": bea},
		{"authentication_partner_id": "uuid-" + nora},
	} {
		body["name"] = "changed"
		w.Expect(w.call("user.update", syncer(), acctA, bob, body), 409, "USER_002", "is in use")
	}
	if after := w.get(bob); after.Name != before.Name || after.Email != before.Email || after.AuthenticationPartnerID != "" {
		t.Errorf("%+v", after)
	}
}

func TestUpdateByAKeyIsBoundedByIt(t *testing.T) {
	w := newWorld(t)
	w.key(acctA, bob, "apikey-b-v1")
	w.key(acctA, alice, "apikey-a-v1")
	body := areatest.Object{"name": "x"}
	w.Expect(w.call("user.update", areatest.By(acctA, bob, "apikey-b-v1", "write"), acctA, bob, body), 200)
	w.Expect(w.call("user.update", areatest.By(acctA, alice, "apikey-a-v1", "write"), acctA, bob, body), 200)
	for _, caller := range []resources.Principal{
		areatest.By(acctA, bob, "apikey-b-v1", "read"), areatest.By(acctA, alice, "apikey-a-v1", "read"), areatest.By(acctA, bob, "apikey-b-v1"),
		areatest.By(acctA, bob, "apikey-gone-v1", "read", "write"), areatest.By(acctA, alice, "apikey-gone-v1", "read", "write"),
	} {
		w.Expect(w.call("user.update", caller, acctA, bob, body), 403, "AUTH_003")
	}
}

func TestUpdateAsksAgainInItsTransaction(t *testing.T) {
	for name, change := range map[string]func(w *usersWorld){
		"the caller suspended": func(w *usersWorld) {
			w.ChangeUser(alice, func(u *resources.User) { u.Status = resources.StatusSuspended })
		},
		"the caller gone":       func(w *usersWorld) { w.ChangeUser(alice, func(u *resources.User) { u.AccountID = "" }) },
		"the caller demoted":    func(w *usersWorld) { w.unassign(acctA, alice, resources.RoleAccountAdmin) },
		"the account suspended": func(w *usersWorld) { w.SetAccount(acctA, resources.StatusSuspended) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			w.Expect(w.call("user.update", areatest.As(acctA, alice), acctA, bob, areatest.Object{"name": "x"}), 403, "AUTH_003")
			if got := w.call("user.update", areatest.As(acctA, alice), acctA, alice, areatest.Object{"name": "x"}); name != "the caller demoted" {
				w.Expect(got, 403, "AUTH_003")
			}
			if w.get(bob).Name == "x" {
				t.Error("it was changed")
			}
		})
	}
}
