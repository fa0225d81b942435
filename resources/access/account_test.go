package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const newAcct = "acct-new-v1"

var platform = areatest.Service(resources.ServiceScopeAdmin)

// lookUp reads a record past the handlers; ok is false for an unknown one.
func lookUp[T any](w *accessWorld, c store.Collection[T], key string) (value T, ok bool) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(tx store.Tx) error {
		rec, err := c.Get(w.T.Context(), tx, key)
		value = rec.Value
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.T.Fatal(err)
	}
	return value, err == nil
}

// change alters a record past the handlers.
func change[T any](w *accessWorld, c store.Collection[T], key string, fn func(*T)) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		rec, err := c.Get(ctx, tx, key)
		if err != nil {
			return err
		}
		fn(&rec.Value)
		return c.Replace(ctx, tx, rec)
	})
}

// loner adds a user of no account.
func (w *accessWorld) loner(id, email, status string) {
	w.T.Helper()
	w.Write(func(ctx context.Context, tx store.Tx) error {
		return w.Collections.Users.Insert(ctx, tx, resources.User{
			ExternalID: id, UUID: "uuid-" + id, Email: email, Name: "Loner", Status: status, CreatedAt: areatest.Start, UpdatedAt: areatest.Start,
		})
	})
}

// atOnce makes the same kind of call twice at the same time and gives the statuses.
func atOnce(call func(i int) areatest.Answer) (statuses [2]int) {
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = call(i).Status })
	}
	wg.Wait()
	return statuses
}

// oneOfTwo fails unless one call was answered 201 and the other 409.
func oneOfTwo(t *testing.T, got [2]int) {
	t.Helper()
	if got != [2]int{201, 409} && got != [2]int{409, 201} {
		t.Errorf("statuses %v, want one 201 and one 409", got)
	}
}

func TestAccountIsMadeWithItsAdmin(t *testing.T) {
	w := newWorld(t)
	before := w.Revision("")
	got := w.call("account.create", platform, "", "", `{"id":"acct-new-v1","name":"  New  ","admin":{"email":"Ada@Example.com","name":" Ada ","external_id":"user-ada-v1"}}`)
	w.Expect(got, 201)
	want := `{"account":{"id":"acct-new-v1","name":"New","status":"ACTIVE","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"},` +
		`"admin":{"id":"user-ada-v1","email":"Ada@Example.com","name":"Ada","status":"ACTIVE","is_verified":false,"created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`
	if got.Text != want {
		t.Errorf("the answer is\n%s, want\n%s", got.Text, want)
	}
	u, _ := lookUp(w, w.Collections.Users, "user-ada-v1")
	if u.AccountID != newAcct || u.MemberSince != areatest.Start || u.AuthenticationType != "unknown" || len(u.UUID) != 36 {
		t.Errorf("the admin's record is %+v", u)
	}
	w.Expect(w.call("group.list", areatest.As(newAcct, "user-ada-v1"), "accountId="+newAcct, "", nil), 200)
	w.Expect(w.call("group.create", areatest.As(newAcct, "user-ada-v1"), "accountId="+newAcct, "", `{"name":"g"}`), 201)
	if w.Revision(newAcct) < 1 || w.Revision("") <= before {
		t.Error("the revisions of the account and of users without one did not move")
	}
}

func TestAccountWithoutIDsGetsGeneratedOnes(t *testing.T) {
	var invited []string
	w := newWorld(t, func(cfg *access.Config) {
		cfg.Invite = func(_ context.Context, _ store.Tx, a resources.Account, u resources.User) error {
			invited = append(invited, a.ID+" "+u.ExternalID)
			return nil
		}
	})
	got := w.call("account.create", platform, "", "", `{"id":null,"name":"New","admin":{"email":"ada@example.com"}}`)
	w.Expect(got, 201, `"status":"INVITED"`, `"name":""`)
	account, admin := got.Str("account.id"), got.Str("admin.id")
	if !resources.ValidExternalID("acct", account) || !strings.HasPrefix(admin, "user-") || !strings.HasSuffix(admin, "-v1") {
		t.Errorf("ids %q and %q", account, admin)
	}
	if u, _ := lookUp(w, w.Collections.Users, admin); u.InvitedAt != areatest.Start {
		t.Errorf("invited at %v: the invitation binds nobody", u.InvitedAt)
	}
	if len(invited) != 1 || invited[0] != account+" "+admin {
		t.Errorf("invited %q, want the admin once", invited)
	}
	w.Expect(w.call("account.create", platform, "", "", `{"name":"Other","admin":{"email":"b@example.com","external_id":"b"}}`), 201, `"ACTIVE"`)
	if len(invited) != 1 {
		t.Error("an admin who can sign in was invited")
	}
}

func TestAccountIsNotMadeWhenTheInvitationCannotBeStored(t *testing.T) {
	w := newWorld(t, func(cfg *access.Config) {
		cfg.Invite = func(context.Context, store.Tx, resources.Account, resources.User) error { return errors.New("full") }
	})
	w.Expect(w.call("account.create", platform, "", "", `{"id":"acct-new-v1","name":"New","admin":{"email":"ada@example.com"}}`), 500)
	if _, ok := lookUp(w, w.Collections.Accounts, newAcct); ok {
		t.Error("the account is there without its admin's mail")
	}
}

func TestUserOfNoAccountBecomesTheAdmin(t *testing.T) {
	w := newWorld(t)
	w.loner("user-lone-v1", "Lone@Example.com", resources.StatusSuspended)
	for i, body := range []string{
		`{"id":"acct-new-v1","name":"New","admin":{"email":"lone@example.COM","name":"Other","external_id":"user-lone-v1"}}`,
		`{"id":"acct-new2-v1","name":"New","admin":{"email":"lone2@example.com"}}`,
	} {
		if i == 1 {
			w.loner("user-lone2-v1", "lone2@example.com", resources.StatusActive)
		}
		got := w.call("account.create", platform, "", "", body)
		w.Expect(got, 201, `"name":"Loner"`)
		u, _ := lookUp(w, w.Collections.Users, got.Str("admin.id"))
		if u.AccountID != got.Str("account.id") || u.MemberSince != areatest.Start || u.Status != got.Str("admin.status") {
			t.Errorf("the admin's record is %+v", u)
		}
		a := resources.Assignment{
			AccountID: u.AccountID, RoleID: "account_admin", AssigneeType: resources.AssigneeUser, AssigneeID: u.ExternalID,
		}
		a, ok := lookUp(w, w.Collections.Assignments, records.AssignmentID(a))
		if !ok || a.Status != resources.StatusActive || a.ID != records.AssignmentID(a) || a.ProjectID != "" || a.ExpiresAt != 0 {
			t.Errorf("the assignment is %+v", a)
		}
	}
	if u, _ := lookUp(w, w.Collections.Users, "user-lone-v1"); u.Status != resources.StatusSuspended {
		t.Errorf("the status became %s", u.Status)
	}
}

// TestUserWhomAnAccountLetsGoBecomesTheAdmin: both accounts' revisions move. If the user is not let
// go, or the store fails then, there is neither a new admin nor an account.
func TestUserWhomAnAccountLetsGoBecomesTheAdmin(t *testing.T) {
	var free bool
	var failure error
	w := newWorld(t, func(cfg *access.Config) {
		cfg.Release = func(_ context.Context, _ store.Tx, u *resources.User) (bool, error) {
			if free {
				u.AccountID = ""
			}
			return free, failure
		}
	})
	body := `{"id":"acct-new-v1","name":"New","admin":{"email":"USER-ivan-v1@example.com"}}`
	before := w.Revision(acctA)
	w.Expect(w.call("account.create", platform, "", "", body), 409, "a member of another account")
	free, failure = true, errors.New("full")
	w.Expect(w.call("account.create", platform, "", "", body), 500)
	if _, ok := lookUp(w, w.Collections.Accounts, newAcct); ok || w.Revision(acctA) != before {
		t.Error("an account was made")
	}
	failure = nil
	w.Expect(w.call("account.create", platform, "", "", body), 201, ivan, `"status":"INVITED"`)
	if u, _ := lookUp(w, w.Collections.Users, ivan); u.AccountID != newAcct || u.InvitedAt != areatest.Start || u.MemberSince != areatest.Start {
		t.Errorf("the admin's record is %+v", u)
	}
	if w.Revision(acctA) != before+1 {
		t.Error("the revision of the account that was left did not move")
	}
}

func TestAccountRefusesWhatIsInUse(t *testing.T) {
	w := newWorld(t)
	w.loner("user-lone-v1", "lone@example.com", resources.StatusActive)
	change(w, w.Collections.Users, bea, func(u *resources.User) { u.AuthenticationPartnerID = "partner-bea" })
	change(w, w.Collections.Accounts, acctB, func(a *resources.Account) { a.Status = resources.StatusSuspended })
	for name, body := range map[string]string{
		"account id":                  `{"id":"acct-b-v1","name":"New","admin":{"email":"n@example.com"}}`,
		"member of another account":   `{"id":"acct-new-v1","name":"New","admin":{"email":"USER-bea-v1@example.com"}}`,
		"external id of a member":     `{"id":"acct-new-v1","name":"New","admin":{"email":"n@example.com","external_id":"user-bea-v1"}}`,
		"external id of a loner":      `{"id":"acct-new-v1","name":"New","admin":{"email":"n@example.com","external_id":"user-lone-v1"}}`,
		"partner id":                  `{"id":"acct-new-v1","name":"New","admin":{"email":"n@example.com","external_id":"partner-bea"}}`,
		"uuid":                        `{"id":"acct-new-v1","name":"New","admin":{"email":"n@example.com","external_id":"uuid-user-bea-v1"}}`,
		"other external id of e-mail": `{"id":"acct-new-v1","name":"New","admin":{"email":"lone@example.com","external_id":"user-n-v1"}}`,
	} {
		t.Run("409 "+name, func(t *testing.T) {
			w.Expect(w.call("account.create", platform, "", "", body), 409)
			if _, ok := lookUp(w, w.Collections.Accounts, newAcct); ok {
				t.Fatal("the account was made")
			}
			if _, ok := lookUp(w, w.Collections.Users, "user-n-v1"); ok {
				t.Error("the user was made")
			}
		})
	}
}

func TestAccountTellsAllProblemsAtOnce(t *testing.T) {
	w := newWorld(t)
	got := w.call("account.create", platform, "", "x=1", `{"id":"acct_1","name":" ","admin":{"email":"a@b","name":"","external_id":"service-x","z":1},"y":2}`)
	w.Expect(got, 400, "x: ", "id: ", "name: ", "admin.email: ", "admin.name: ", "admin.external_id: ", "admin.z: ", "y: ")
	for name, body := range map[string]string{
		"none":              ``,
		"no object":         `[]`,
		"name missing":      `{"admin":{"email":"a@example.com"}}`,
		"name too long":     `{"name":"` + strings.Repeat("ä", 256) + `","admin":{"email":"a@example.com"}}`,
		"admin missing":     `{"name":"n"}`,
		"admin no object":   `{"name":"n","admin":"a@example.com"}`,
		"email missing":     `{"name":"n","admin":{}}`,
		"external id empty": `{"name":"n","admin":{"email":"a@example.com","external_id":""}}`,
		"external id dots":  `{"name":"n","admin":{"email":"a@example.com","external_id":".."}}`,
		"external id place": `{"name":"n","admin":{"email":"a@example.com","external_id":"Projects"}}`,
		"external id odd":   `{"name":"n","admin":{"email":"a@example.com","external_id":"a|b"}}`,
		"name an operator":  `{"name":{"$ne":""},"admin":{"email":"a@example.com"}}`,
		"id upper case":     `{"id":"ACCT-1-v1","name":"n","admin":{"email":"a@example.com"}}`,
		"id too long":       `{"id":"acct-` + strings.Repeat("a", 130) + `-v1","name":"n","admin":{"email":"a@example.com"}}`,
	} {
		t.Run("400 "+name, func(t *testing.T) { w.Expect(w.call("account.create", platform, "", "", body), 400) })
	}
	w.Expect(w.call("account.create", platform, "", "", `{"name":"`+strings.Repeat("ä", 255)+`","admin":{"email":"a@example.com"}}`), 201)
}

func TestAdminAddressIsOneBareAddress(t *testing.T) {
	w := newWorld(t)
	for _, email := range []string{
		"a", "a@b", "@b.co", "a@", "a b@c.de", "a@b.co, c@d.ef", "A <a@b.co>", "<a@b.co>", "a@b.co (x)", "(x)a@b.co", `\"a b\"@c.de`,
		`\"a\"@c.de`, `a@b.co\r\nBcc: x@y.zz`, `a@b.co\n`, " a@b.co", "a@b.co ", "ä@b.co", "a@bä.co", "a@b..co", "a@.co", "a@b.co.", "a@[1.2.3.4]",
		"a@-b.co", "a@b-.co", "a@b_c.de", "a..b@c.de", ".a@c.de", strings.Repeat("a", 65) + "@b.co",
		"a@" + strings.Repeat("b", 64) + ".co", "a@" + strings.Repeat("b.", 126) + "co", "a@b@c.de", "a:b@c.de;",
	} {
		got := w.call("account.create", platform, "", "", `{"name":"n","admin":{"email":"`+email+`"}}`)
		if got.Status != 400 || !strings.Contains(got.Text, "admin.email: ") {
			t.Errorf("%s: %d %s", email, got.Status, got.Text)
		}
	}
	for _, email := range []string{
		"a@b.co", "a.b+c@d-e.fg", "o'neil@x.example", "root@localhost", "a@xn--bcher-kva.example", "A@B.CO.UK",
		strings.Repeat("a", 64) + "@b.co",
	} {
		if got := w.call("account.create", platform, "", "", `{"name":"n","admin":{"email":"`+email+`"}}`); got.Status != 201 {
			t.Errorf("%s: %d %s", email, got.Status, got.Text)
		}
	}
}

func TestTwoAccountsAtOnce(t *testing.T) {
	for name, body := range map[string]string{
		"one id":      `{"id":"acct-new-v1","name":"New","admin":{"email":"n%d@example.com"}}`,
		"one address": `{"id":"acct-new%d-v1","name":"New","admin":{"email":"n@example.com"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			oneOfTwo(t, atOnce(func(i int) areatest.Answer { return w.call("account.create", platform, "", "", fmt.Sprintf(body, i)) }))
		})
	}
}

func TestAccountIsReadAndChanged(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(hour))
	w.Expect(w.call("account.get", areatest.As(acctA, dan), "accountId="+acctA, "", nil), 200,
		`{"account":{"id":"acct-a-v1","name":"Name of acct-a-v1","status":"ACTIVE","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`)
	rev := w.Revision(acctA)
	w.Expect(w.call("account.update", platform, "accountId="+acctA, "", `{"status":"SUSPENDED"}`), 200,
		`{"account":{"id":"acct-a-v1","name":"Name of acct-a-v1","status":"SUSPENDED","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T15:13:20.000Z"}}`)
	if w.Revision(acctA) != rev+1 {
		t.Error("the revision did not move")
	}
	w.Expect(w.call("group.create", areatest.As(acctA, alice), "accountId="+acctA, "", `{"name":"g"}`), 403, "suspended")
	w.Expect(w.call("account.update", platform, "accountId="+acctA, "", `{"name":" Neu ","status":"ACTIVE"}`), 200, `"name":"Neu"`, `"ACTIVE"`)
	w.Expect(w.call("account.update", platform, "accountId="+acctA, "", `{"name":"A","status":null}`), 200, `"name":"A"`, `"ACTIVE"`)
	w.Expect(w.call("account.get", platform, "accountId="+acctA, "", nil), 200, `"name":"A"`)
}

func TestAccountChangeIsRefused(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("account.get", platform, "accountId="+absent, "", nil), 404)
	w.Expect(w.call("account.get", platform, "accountId="+acctA, "x=1", nil), 400, "x: ")
	w.Expect(w.call("account.update", platform, "accountId="+absent, "", `{"name":"n"}`), 404)
	if w.Revision(absent) != 0 {
		t.Error("a refused change moved a revision")
	}
	w.Expect(w.call("account.update", platform, "accountId="+absent, "", `{"name":"","status":"x","id":"acct-c-v1"}`), 400, "name: ", "status: ", "id: ")
	for _, body := range []string{`{}`, ``, `{"name":null}`, `{"status":"INVITED"}`, `{"status":"active"}`, `{"status":""}`, `{"name":1}`} {
		w.Expect(w.call("account.update", platform, "accountId="+acctA, "", body), 400)
	}
}
