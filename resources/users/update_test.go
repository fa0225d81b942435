package users_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

func TestUpdateChangesWhatIsThereAndKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	w.pass(minute)
	for _, id := range []string{bob, "uuid-" + bob} {
		rev := w.revision(acctA)
		w.expect(w.call("user.update", as(acctA, alice), acctA, id, object{"name": "  Böb  "}), 200, `{"message":"`)
		u := w.get(bob)
		if u.Name != "Böb" || u.Email != bob+"@example.com" || u.Status != resources.StatusActive || u.CreatedAt != start || u.UpdatedAt != start+minute {
			t.Errorf("%s: %+v", id, u)
		}
		if w.revision(acctA) != rev+1 {
			t.Errorf("%s: revision %d after %d", id, w.revision(acctA), rev)
		}
	}
	w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"profile_pic_url": "https://example.com/b.png"}), 200)
	w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"status": "SUSPENDED", "name": nil}), 200)
	if u := w.get(bob); u.Name != "Böb" || u.ProfilePicURL != "https://example.com/b.png" || u.Status != resources.StatusSuspended {
		t.Errorf("%+v", u)
	}
	w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"profile_pic_url": ""}), 200)
	if u := w.get(bob); u.ProfilePicURL != "" {
		t.Errorf("%+v", u)
	}
	for _, status := range []string{"ACTIVE", "INACTIVE", "SUSPENDED", "WAITLISTED", "PENDING"} {
		w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"status": status}), 200)
		if got := w.get(bob).Status; got != status {
			t.Error(got)
		}
	}
}

func TestUpdateIgnoresReadOnlyFields(t *testing.T) {
	w := newWorld(t)
	before := w.get(bob)
	for _, body := range []object{
		{"id": "uuid-" + bob, "external_id": "user-x-v1", "created_at": "2020-01-01T00:00:00Z", "updated_at": 7},
		{"id": bob, "account_id": acctA},
	} {
		w.expect(w.call("user.update", as(acctA, alice), acctA, bob, body), 200)
	}
	w.expect(w.call("user.update", as(acctA, alice), acctA, "uuid-"+bob, object{"id": bob}), 200)
	if after := w.get(bob); after.ExternalID != before.ExternalID || after.UUID != before.UUID || after.CreatedAt != before.CreatedAt || after.AccountID != acctA {
		t.Errorf("%+v", after)
	}
	w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"id": "uuid-" + alice, "name": ""}), 400, "REQ_001", "id: is not the user in the path", "name: ")
	w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"account_id": acctB}), 400, "account_id: ")
	w.expect(w.call("user.update", syncer(), "", nora, object{"account_id": acctA}), 400, "account_id: ")
}

func TestUpdateTellsAllProblems(t *testing.T) {
	w := newWorld(t)
	before := w.get(bob)
	for name, c := range map[string]struct {
		who  resources.Principal
		body any
		want []string
	}{
		"all at once": {as(acctA, alice), object{
			"name": " ", "profile_pic_url": "javascript:alert(1)", "metadata": []int{1}, "status": "INVITED", "role": "account_admin",
		}, []string{"name: ", "profile_pic_url: ", "metadata: ", "status: must be one of ACTIVE, INACTIVE, SUSPENDED, WAITLISTED, PENDING", "role: unknown field"}},
		"name too long":     {as(acctA, alice), object{"name": strings.Repeat("é", 256)}, []string{"name: "}},
		"name no string":    {as(acctA, alice), object{"name": object{"$ne": ""}}, []string{"name: must be a string"}},
		"status unknown":    {as(acctA, alice), object{"status": "active"}, []string{"status: "}},
		"status a number":   {as(acctA, alice), object{"status": 1}, []string{"status: "}},
		"picture too long":  {as(acctA, alice), object{"profile_pic_url": "https://example.com/" + strings.Repeat("a", 2048)}, []string{"profile_pic_url: "}},
		"picture no host":   {as(acctA, alice), object{"profile_pic_url": "https:///a"}, []string{"profile_pic_url: "}},
		"picture password":  {as(acctA, alice), object{"profile_pic_url": "https://a:b@example.com/"}, []string{"profile_pic_url: "}},
		"picture lines":     {as(acctA, alice), object{"profile_pic_url": "https://example.com/\r\nx"}, []string{"profile_pic_url: "}},
		"metadata too big":  {as(acctA, alice), object{"metadata": object{"a": strings.Repeat("x", 16<<10)}}, []string{"metadata: must be at most 16384 bytes"}},
		"metadata twice":    {as(acctA, alice), `{"metadata":{"a":1,"a":2}}`, []string{"a name stands twice"}},
		"no body":           {as(acctA, alice), nil, []string{"the body must be a JSON object"}},
		"no object":         {as(acctA, alice), `[]`, []string{"the body must be a JSON object"}},
		"two values":        {as(acctA, alice), `{} {}`, []string{"something follows"}},
		"email":             {syncer(), object{"email": "a@example.com,b@example.com"}, []string{"email: "}},
		"email empty":       {syncer(), object{"email": ""}, []string{"email: "}},
		"email folds":       {syncer(), object{"email": "bo\u212A@example.com"}, []string{"email: "}},
		"verified":          {syncer(), object{"is_verified": "true"}, []string{"is_verified: "}},
		"type":              {syncer(), object{"authentication_type": "a b"}, []string{"authentication_type: "}},
		"type too long":     {syncer(), object{"authentication_type": strings.Repeat("a", 65)}, []string{"authentication_type: "}},
		"partner":           {syncer(), object{"authentication_partner": "oidc"}, []string{"authentication_partner: must be OIDC"}},
		"partner's subject": {syncer(), object{"authentication_partner_id": "service-x"}, []string{"authentication_partner_id: "}},
		"subject's lines":   {syncer(), object{"authentication_partner_id": "a\nb"}, []string{"authentication_partner_id: "}},
		"blank subject":     {syncer(), object{"authentication_partner_id": " "}, []string{"authentication_partner_id: "}},
		"padded subject":    {syncer(), object{"authentication_partner_id": "auth0|1 "}, []string{"authentication_partner_id: "}},
		"unseen subject":    {syncer(), object{"authentication_partner_id": "auth0|1\u202e"}, []string{"authentication_partner_id: "}},
		"subject too long":  {syncer(), object{"authentication_partner_id": strings.Repeat("a", 256)}, []string{"authentication_partner_id: "}},
		"invited by sync":   {syncer(), object{"status": "INVITED"}, []string{"status: "}},
	} {
		got := w.in(t).call("user.update", c.who, acctA, bob, c.body)
		if got.status != 400 {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
		for _, text := range append(c.want, "REQ_001") {
			if !strings.Contains(got.text, text) {
				t.Errorf("%s: %q is not in %s", name, text, got.text)
			}
		}
	}
	r := ask(as(acctA, alice), acctA, bob, object{"name": "x"})
	r.Query = "status=INACTIVE"
	w.expect(w.send("user.update", r), 400, "status: unknown query parameter")
	if after := w.get(bob); after.Name != before.Name || after.Status != before.Status || after.Email != before.Email {
		t.Errorf("%+v", after)
	}
}

func TestUpdateNeedsAnAccountButForASync(t *testing.T) {
	w := newWorld(t)
	for _, who := range []resources.Principal{as(acctA, alice), as("", nora), service(resources.ServiceScopeAdmin)} {
		for _, body := range []object{{"name": "x"}, {"name": "x", "id": "uuid-" + bea}} {
			w.expect(w.call("user.update", who, "", bea, body), 400, "x-account-id: is missing")
		}
	}
	w.expect(w.call("user.update", as(acctA, alice), "", bob, object{"name": ""}), 400, "x-account-id: is missing", "name: ")
	rev, none := w.revision(acctB), w.revision("")
	w.expect(w.call("user.update", syncer(), "", bea, object{"name": "Bea"}), 200)
	if w.get(bea).Name != "Bea" || w.revision(acctB) != rev+1 || w.revision("") != none {
		t.Error("the user's own account is not the one that moved")
	}
	w.expect(w.call("user.update", syncer(), "", nora, object{"name": "Nora", "status": "SUSPENDED"}), 200)
	if u := w.get(nora); u.Name != "Nora" || u.Status != "SUSPENDED" || w.revision("") != none+1 {
		t.Errorf("%+v", u)
	}
	w.expect(w.call("user.update", syncer(), "", absent, object{"name": "x"}), 404, "USER_001")
}

func TestUpdateOfAForeignUserIsThatOfAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	before := w.get(bea)
	for _, who := range []resources.Principal{as(acctA, alice), syncer()} {
		for _, body := range []object{{"name": "x"}, {"status": "SUSPENDED"}, {"id": "uuid-" + alice}} {
			want := w.call("user.update", who, acctA, absent, body)
			for _, id := range []string{bea, "uuid-" + bea, nora} {
				if got := w.call("user.update", who, acctA, id, body); got.text != want.text || got.status < 400 {
					t.Errorf("%s %v: %s, absent: %s", id, body, got.text, want.text)
				}
			}
		}
	}
	w.expect(w.call("user.update", as(acctA, alice), acctA, bea, object{"name": "x"}), 404, "USER_001")
	for _, id := range []string{absent, bea, bob, alice} { // bob may not change others, whoever they are
		if id != bob {
			w.expect(w.call("user.update", as(acctA, bob), acctA, id, object{"name": "x"}), 403, "AUTH_003", "no active role of the user grants account:user:update in acct-a-v1")
		}
	}
	if after := w.get(bea); after.Name != before.Name || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("%+v", after)
	}
}

func TestUpdateOfOneselfReachesOwnFieldsOnly(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{bob, "uuid-" + bob} {
		w.expect(w.call("user.update", as(acctA, bob), acctA, id, object{"name": "B", "profile_pic_url": "http://example.com/", "metadata": object{}}), 200)
	}
	if u := w.get(bob); u.Name != "B" || u.ProfilePicURL != "http://example.com/" || string(u.Metadata) != "{}" {
		t.Errorf("%+v", u)
	}
	before := w.get(bob)
	sync := []object{
		{"email": "b@example.com"}, {"is_verified": true}, {"authentication_type": "x"}, {"authentication_partner": "OIDC"}, {"authentication_partner_id": "sub"},
	}
	for _, body := range append(sync, object{"status": "INACTIVE"}) {
		body["name"] = "changed"
		w.expect(w.call("user.update", as(acctA, bob), acctA, bob, body), 403, "AUTH_003", "the caller may not change ")
	}
	for _, body := range sync { // nor for others, nor for an admin's own record, nor by another service
		w.expect(w.call("user.update", as(acctA, alice), acctA, bob, body), 403, "the caller may not change ")
		w.expect(w.call("user.update", as(acctA, alice), acctA, alice, body), 403, "the caller may not change ")
		w.expect(w.call("user.update", service(resources.ServiceScopeAdmin, resources.ServiceScopeCheck), acctA, bob, body), 403)
	}
	w.expect(w.call("user.update", as(acctA, bob), acctA, bob, object{"status": "ACTIVE", "email": "b@example.com"}), 403, "may not change status, email")
	if after := w.get(bob); after.Name != before.Name || after.Email != before.Email || after.Status != before.Status || after.IsVerified {
		t.Errorf("%+v", after)
	}
}

func TestUpdateBySyncReachesEverything(t *testing.T) {
	w := newWorld(t)
	none := w.revision("")
	w.expect(w.call("user.update", syncer(), acctA, bob, object{
		"email": "Robert@Example.com", "is_verified": true, "authentication_type": "google-oauth2", "authentication_partner": "OIDC",
		"authentication_partner_id": "auth0|1", "status": "SUSPENDED", "name": "Robert",
	}), 200)
	u := w.get(bob)
	if u.Email != "Robert@Example.com" || !u.IsVerified || u.AuthenticationType != "google-oauth2" || u.AuthenticationPartner != "OIDC" ||
		u.AuthenticationPartnerID != "auth0|1" || u.Status != "SUSPENDED" || u.Name != "Robert" {
		t.Errorf("%+v", u)
	}
	if w.revision("") != none+1 {
		t.Error("a change of what is unique among all users did not meet the others")
	}
	w.expect(w.call("user.update", syncer(), acctA, bob, object{"email": "ROBERT@example.com", "authentication_partner_id": "auth0|1"}), 200)
	w.expect(w.call("user.update", syncer(), acctA, bob, object{"authentication_partner_id": ""}), 200)
	if u := w.get(bob); u.AuthenticationPartner != "" || u.AuthenticationPartnerID != "" || u.Email != "ROBERT@example.com" {
		t.Errorf("%+v", u)
	}
	for _, own := range []string{bob, "uuid-" + bob} { // names of one's own are nobody else's
		w.expect(w.call("user.update", syncer(), acctA, bob, object{"authentication_partner_id": own}), 200)
		if u := w.get(bob); u.AuthenticationPartner != "OIDC" || u.AuthenticationPartnerID != own {
			t.Errorf("%+v", u)
		}
	}
}

func TestUpdateRefusesWhatIsSomebodyElses(t *testing.T) {
	w := newWorld(t)
	w.change(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|bea" })
	before := w.get(bob)
	for _, body := range []object{
		{"email": "USER-bea-v1@EXAMPLE.com"},
		{"authentication_partner_id": "auth0|bea"},
		{"authentication_partner_id": bea},
		{"authentication_partner_id": "uuid-" + nora},
	} {
		body["name"] = "changed"
		w.expect(w.call("user.update", syncer(), acctA, bob, body), 409, "USER_002", "is in use")
	}
	if after := w.get(bob); after.Name != before.Name || after.Email != before.Email || after.AuthenticationPartnerID != "" {
		t.Errorf("%+v", after)
	}
}

func TestUpdateByAKeyIsBoundedByIt(t *testing.T) {
	w := newWorld(t)
	w.key(acctA, bob, "apikey-b-v1")
	w.key(acctA, alice, "apikey-a-v1")
	body := object{"name": "x"}
	w.expect(w.call("user.update", by(acctA, bob, "apikey-b-v1", "write"), acctA, bob, body), 200)
	w.expect(w.call("user.update", by(acctA, alice, "apikey-a-v1", "write"), acctA, bob, body), 200)
	for _, who := range []resources.Principal{
		by(acctA, bob, "apikey-b-v1", "read"), by(acctA, alice, "apikey-a-v1", "read"), by(acctA, bob, "apikey-b-v1"),
		by(acctA, bob, "apikey-gone-v1", "read", "write"), by(acctA, alice, "apikey-gone-v1", "read", "write"),
	} {
		w.expect(w.call("user.update", who, acctA, bob, body), 403, "AUTH_003")
	}
}

func TestUpdateAsksAgainInItsTransaction(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"the caller suspended": func(w *world) {
			w.change(alice, func(u *resources.User) { u.Status = resources.StatusSuspended })
		},
		"the caller gone":       func(w *world) { w.change(alice, func(u *resources.User) { u.AccountID = "" }) },
		"the caller demoted":    func(w *world) { w.unassign(acctA, alice, resources.RoleAccountAdmin) },
		"the account suspended": func(w *world) { w.suspend(acctA) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			w.expect(w.call("user.update", as(acctA, alice), acctA, bob, object{"name": "x"}), 403, "AUTH_003")
			if got := w.call("user.update", as(acctA, alice), acctA, alice, object{"name": "x"}); name != "the caller demoted" {
				w.expect(got, 403, "AUTH_003")
			}
			if w.get(bob).Name == "x" {
				t.Error("it was changed")
			}
		})
	}
}
