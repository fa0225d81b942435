package users_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

func TestUserIsCreatedAsTheSyncSays(t *testing.T) {
	w := newWorld(t)
	w.pass(minute)
	rev, none := w.revision(acctA), w.revision("")
	got := w.call("user.create", syncer(), "", "", object{
		"email": "Cy@Example.com", "name": " Cy ", "external_id": "cy.1@x", "account_id": acctA, "status": "PENDING", "is_verified": true,
		"authentication_type": "db", "authentication_partner": "OIDC", "authentication_partner_id": "auth0|cy",
		"metadata": object{"n": 1}, "profile_pic_url": "https://example.com/c.png",
	})
	u := w.get("cy.1@x")
	want := `{"user":{"id":"` + u.UUID + `","email":"Cy@Example.com","external_id":"cy.1@x","name":"Cy","profile_pic_url":"https://example.com/c.png",` +
		`"is_verified":true,"metadata":{"n":1},"status":"PENDING","authentication_type":"db","authentication_partner":"OIDC","authentication_partner_id":"auth0|cy",` +
		`"account_id":"acct-a-v1","created_at":"2026-09-21T14:14:20.000Z","updated_at":"2026-09-21T14:14:20.000Z"}}`
	if got.status != 201 || got.text != want {
		t.Errorf("%d %s\nwant %s", got.status, got.text, want)
	}
	if len(u.UUID) != 36 || u.MemberSince != start+minute || u.InvitedAt != 0 || w.revision(acctA) != rev+1 || w.revision("") != none+1 || len(w.mails()) != 0 {
		t.Errorf("%+v", u)
	}
}

func TestUserIsCreatedWithDefaults(t *testing.T) {
	w := newWorld(t)
	got := w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "status": nil})
	u := w.byEmail("cy@example.com")
	want := `{"user":{"id":"` + u.UUID + `","email":"cy@example.com","external_id":"` + u.ExternalID + `","name":"","is_verified":false,"status":"ACTIVE",` +
		`"authentication_type":"unknown","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`
	if got.status != 201 || got.text != want {
		t.Errorf("%d %s\nwant %s", got.status, got.text, want)
	}
	if len(u.ExternalID) != len("user-")+26+len("-v1") || u.AccountID != "" || u.MemberSince != 0 {
		t.Errorf("%+v", u)
	}
}

func TestCreatedInviteeGetsTheMail(t *testing.T) {
	w := newWorld(t)
	w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "status": "INVITED"}), 400, "status: INVITED needs an account_id")
	w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "status": "INVITED", "account_id": acctA}), 201, `"status":"INVITED"`)
	u := w.byEmail("cy@example.com")
	if mails := w.mails(); len(mails) != 1 || mails[0].To != "cy@example.com" || mails[0].AccountID != acctA || u.InvitedAt != start {
		t.Errorf("%+v, mails %v", u, mails)
	}
	if done, err := w.users.SignIn(t.Context(), "sub", "cy@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}

func TestUserIsCreatedBySyncOnly(t *testing.T) {
	w := newWorld(t)
	for _, who := range []resources.Principal{as(acctA, alice), service(resources.ServiceScopeAdmin, resources.ServiceScopeCheck), {}} {
		w.expect(w.call("user.create", who, acctA, "", object{"email": "cy@example.com"}), 403, "AUTH_003")
		w.expect(w.call("user.create", who, acctA, "", object{}), 403, "AUTH_003")
		r := ask(who, acctA, "", nil)
		r.Query = "external_id=" + bob
		w.expect(w.send("user.find", r), 403, "AUTH_003")
	}
}

func TestCreationTellsAllProblems(t *testing.T) {
	w := newWorld(t)
	for _, subject := range []string{" ", "auth0|1 ", " auth0|1", "\u200b", "auth0|1\u009b"} {
		w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "authentication_partner_id": subject}), 400, "REQ_001", "authentication_partner_id: must be")
	}
	w.expect(w.call("user.create", syncer(), "", "", object{
		"name": "", "external_id": "service-x", "account_id": "a/b", "status": "BLANK", "is_verified": 1, "authentication_type": "",
		"authentication_partner": "GITHUB", "authentication_partner_id": "service-y", "metadata": "x", "profile_pic_url": "ftp://example.com/", "id": "x",
	}), 400, "REQ_001", "email: is missing", "name: ", "external_id: ", "account_id: is not an account", "status: ", "is_verified: ",
		"authentication_type: ", "authentication_partner: ", "authentication_partner_id: ", "metadata: ", "profile_pic_url: ", "id: unknown field")
	for _, bad := range []string{"", "a b", "é", "service-", fmt.Sprintf("%0129d", 0)} {
		w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "external_id": bad}), 400, "external_id: ")
	}
	for _, account := range []string{"", "acct-none-v1", "$ne"} {
		w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "account_id": account}), 400, "account_id: is not an account")
	}
	w.expect(w.call("user.create", syncer(), "", "", object{"email": "not one"}), 400, "email: ")
}

func TestCreationOfWhatIsInUseIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.change(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|bea" })
	for _, body := range []object{
		{"email": "USER-BEA-v1@example.com"},
		{"email": "cy@example.com", "external_id": bea},
		{"email": "cy@example.com", "external_id": "uuid-" + bea},
		{"email": "cy@example.com", "authentication_partner_id": "auth0|bea"},
		{"email": "cy@example.com", "authentication_partner_id": bea},
		{"email": "cy@example.com", "authentication_partner_id": "uuid-" + bea},
	} {
		for range 2 {
			w.expect(w.call("user.create", syncer(), "", "", body), 409, "USER_002", "is in use")
		}
	}
	w.change(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0-bea" })
	w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "external_id": "auth0-bea"}), 409, "USER_002")
	w.expect(w.call("user.create", syncer(), "", "", object{"email": "cy@example.com", "external_id": "cy", "authentication_partner_id": "cy"}), 201)
}

func TestCreationWithAnIdempotencyKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	r := ask(syncer(), "", "", object{"email": "cy@example.com", "metadata": object{"a": "<"}})
	r.IdempotencyKey = "k"
	first := w.send("user.create", r)
	w.expect(first, 201)
	if again := w.send("user.create", r); again.status != 201 || again.text != first.text {
		t.Errorf("%d %s", again.status, again.text)
	}
}

// TestTwoCreationsAtOnceShareNoName: an external id of the one is the provider's
// subject of the other, in two accounts.
func TestTwoCreationsAtOnceShareNoName(t *testing.T) {
	w := newWorld(t)
	for round := range 50 {
		name := fmt.Sprintf("name-%d", round)
		got := atOnce(
			func() answer {
				return w.send("user.create", ask(syncer(), "", "", object{"email": name + "@a.example", "external_id": name, "account_id": acctA}))
			},
			func() answer {
				return w.send("user.update", ask(syncer(), acctB, bea, object{"authentication_partner_id": name}))
			},
		)
		if s := got[0].status + got[1].status; s != 201+409 && s != 409+200 {
			t.Fatalf("round %d: %s, %s", round, got[0].text, got[1].text)
		}
	}
}
