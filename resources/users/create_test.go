package users_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestUserIsCreatedAsTheSyncSays(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(minute))
	rev, none := w.Revision(acctA), w.Revision("")
	got := w.call("user.create", syncer(), "", "", areatest.Object{
		"email": "Cy@Example.com", "name": " Cy ", "external_id": "cy.1@x", "account_id": acctA, "status": "PENDING", "is_verified": true,
		"authentication_type": "db", "authentication_partner": "OIDC", "authentication_partner_id": "auth0|cy",
		"metadata": areatest.Object{"n": 1}, "profile_pic_url": "https://example.com/c.png",
	})
	u := w.get("cy.1@x")
	want := `{"user":{"id":"` + u.UUID + `","email":"Cy@Example.com","external_id":"cy.1@x","name":"Cy","profile_pic_url":"https://example.com/c.png",` +
		`"is_verified":true,"metadata":{"n":1},"status":"PENDING","authentication_type":"db","authentication_partner":"OIDC","authentication_partner_id":"auth0|cy",` +
		`"account_id":"acct-a-v1","created_at":"2026-09-21T14:14:20.000Z","updated_at":"2026-09-21T14:14:20.000Z"}}`
	if got.Status != 201 || got.Text != want {
		t.Errorf("%d %s\nwant %s", got.Status, got.Text, want)
	}
	if len(u.UUID) != 36 || u.MemberSince != areatest.Start+minute || u.InvitedAt != 0 || w.Revision(acctA) != rev+1 || w.Revision("") != none+1 || len(w.mails()) != 0 {
		t.Errorf("%+v", u)
	}
}

func TestUserIsCreatedWithDefaults(t *testing.T) {
	w := newWorld(t)
	got := w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "status": nil})
	u := w.byEmail("cy@example.com")
	want := `{"user":{"id":"` + u.UUID + `","email":"cy@example.com","external_id":"` + u.ExternalID + `","name":"","is_verified":false,"status":"ACTIVE",` +
		`"authentication_type":"unknown","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`
	if got.Status != 201 || got.Text != want {
		t.Errorf("%d %s\nwant %s", got.Status, got.Text, want)
	}
	if len(u.ExternalID) != len("user-")+26+len("-v1") || u.AccountID != "" || u.MemberSince != 0 {
		t.Errorf("%+v", u)
	}
	for _, status := range []string{"INACTIVE", "SUSPENDED", "WAITLISTED"} {
		w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": status + "@example.com", "status": status}), 201, `"status":"`+status+`"`)
	}
}

func TestCreatedInviteeGetsTheMail(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "status": "INVITED"}), 400, "status: INVITED needs an account_id")
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "status": "INVITED", "account_id": acctA, "authentication_partner_id": "idp|x"}), 400)
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "status": "INVITED", "account_id": acctA}), 201, `"status":"INVITED"`)
	u := w.byEmail("cy@example.com")
	if mails := w.mails(); len(mails) != 1 || mails[0].To != "cy@example.com" || mails[0].AccountID != acctA || u.InvitedAt != areatest.Start {
		t.Errorf("%+v, mails %v", u, mails)
	}
	if done, err := w.users.SignIn(t.Context(), "sub", "cy@example.com"); !done || err != nil {
		t.Error(done, err)
	}
}

func TestUserIsCreatedBySyncOnly(t *testing.T) {
	w := newWorld(t)
	for _, caller := range []resources.Principal{areatest.As(acctA, alice), areatest.Service(resources.ServiceScopeAdmin, resources.ServiceScopeCheck), {}} {
		w.Expect(w.call("user.create", caller, acctA, "", areatest.Object{"email": "cy@example.com"}), 403, "AUTH_003")
		w.Expect(w.call("user.create", caller, acctA, "", areatest.Object{}), 403, "AUTH_003")
		r := ask(caller, acctA, "", nil)
		r.Query = "external_id=" + bob
		w.Expect(w.Ask("user.find", r), 403, "AUTH_003")
	}
}

func TestCreationTellsAllProblems(t *testing.T) {
	w := newWorld(t)
	for _, subject := range []string{" ", "auth0|1 ", " auth0|1", "\u200b", "auth0|1\u009b"} {
		w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "authentication_partner_id": subject}), 400, "REQ_001", "authentication_partner_id: must be")
	}
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{
		"name": "", "external_id": "service-x", "account_id": "a/b", "status": "BLANK", "is_verified": 1, "authentication_type": "",
		"authentication_partner": "GITHUB", "authentication_partner_id": "service-y", "metadata": "x", "profile_pic_url": "ftp://example.com/", "id": "x",
	}), 400, "REQ_001", "email: is missing", "name: ", "external_id: ", "account_id: is not an account", "status: ", "is_verified: ",
		"authentication_type: ", "authentication_partner: ", "authentication_partner_id: ", "metadata: ", "profile_pic_url: ", "id: unknown field")
	for _, bad := range []string{"", "a b", "é", "service-", ".", "..", "accounts", "Projects", fmt.Sprintf("%0129d", 0)} {
		w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "external_id": bad}), 400, "external_id: ")
	}
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "dots@example.com", "external_id": "..."}), 201)
	for _, account := range []string{"", "acct-none-v1", "$ne"} {
		w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "account_id": account}), 400, "account_id: is not an account")
	}
	for field, value := range map[string]any{"email": "not one", "status": "DELETED", "authentication_type": strings.Repeat("x", 65)} {
		body := areatest.Object{"email": "cy@example.com"}
		body[field] = value
		w.Expect(w.call("user.create", syncer(), "", "", body), 400, field+": ")
	}
}

func TestCreationOfWhatIsInUseIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.ChangeUser(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0|bea" })
	for _, body := range []areatest.Object{
		{"email": "USER-BEA-v1@example.com"},
		{"email": "cy@example.com", "external_id": bea},
		{"email": "cy@example.com", "external_id": "uuid-" + bea},
		{"email": "cy@example.com", "authentication_partner_id": "auth0|bea"},
		{"email": "cy@example.com", "authentication_partner_id": bea},
		{"email": "cy@example.com", "authentication_partner_id": "uuid-" + bea},
	} {
		for range 2 {
			w.Expect(w.call("user.create", syncer(), "", "", body), 409, "USER_002", "is in use")
		}
	}
	w.ChangeUser(bea, func(u *resources.User) { u.AuthenticationPartnerID = "auth0-bea" })
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "external_id": "auth0-bea"}), 409, "USER_002")
	w.Expect(w.call("user.create", syncer(), "", "", areatest.Object{"email": "cy@example.com", "external_id": "cy", "authentication_partner_id": "cy"}), 201)
}

func TestCreationWithAnIdempotencyKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	r := ask(syncer(), "", "", areatest.Object{"email": "cy@example.com", "metadata": areatest.Object{"a": "<"}})
	r.IdempotencyKey = "k"
	first := w.Ask("user.create", r)
	w.Expect(first, 201)
	if again := w.Ask("user.create", r); again.Status != 201 || again.Text != first.Text {
		t.Errorf("%d %s", again.Status, again.Text)
	}
}

// TestTwoCreationsAtOnceShareNoName: an external id of the one is the provider's
// subject of the other, in two accounts.
func TestTwoCreationsAtOnceShareNoName(t *testing.T) {
	w := newWorld(t)
	for round := range 50 {
		name := fmt.Sprintf("name-%d", round)
		got := areatest.AtOnce(
			func() areatest.Answer {
				return w.Ask("user.create", ask(syncer(), "", "", areatest.Object{"email": name + "@a.example", "external_id": name, "account_id": acctA}))
			},
			func() areatest.Answer {
				return w.Ask("user.update", ask(syncer(), acctB, bea, areatest.Object{"authentication_partner_id": name}))
			},
		)
		if s := got[0].Status + got[1].Status; s != 201+409 && s != 409+200 {
			t.Fatalf("round %d: %s, %s", round, got[0].Text, got[1].Text)
		}
	}
}
