package attacks_test

import (
	"fmt"
	"strings"
)

// lastAdmin: theirs is an account with one admin, who can't be taken away by any way.
func lastAdmin(w *attacksWorld, r *refusals) {
	t := w.foreign
	self := bearer(t.adminToken)
	uuid := text(w.must(w.t, 200, "GET", "/api/v1/users?email="+t.adminEmail, w.sync, "")["users"].([]any)[0], "id")
	grant := t.path("/roles/account_admin/assignments/" + t.admin)
	for name, raw := range map[string]string{
		"revoked": request("DELETE", grant, "", self), "revoked by name": request("DELETE", grant+"?assigneeType=USER", "", self), "inactive": request("PUT", grant, `{"status":"INACTIVE"}`, self), "with an end": request("PUT", grant, `{"expiresAt":"2099-01-01T00:00:00Z"}`, self),
		"replaced": request("PUT", t.path("/roles/account_reader/assignments/"+t.admin), `{"roleId":"account_admin"}`, self), "replaced by a custom role": request("PUT", t.path("/roles/"+t.role+"/assignments/"+t.admin), `{"roleId":"account_admin"}`, self), "removed": request("DELETE", t.path("/users/"+t.admin), "", self),
		"suspended": request("PUT", "/api/v1/users/"+uuid, `{"status":"SUSPENDED"}`, self, "X-Account-ID: "+t.account), "waitlisted": request("PUT", "/api/v1/users/"+uuid, `{"status":"WAITLISTED"}`, self, "X-Account-ID: "+t.account), "suspended by the service": request("PUT", "/api/v1/users/"+uuid, `{"status":"SUSPENDED"}`, bearer(w.sync)),
		"inactive by the service": request("PUT", "/api/v1/users/"+uuid, `{"status":"INACTIVE"}`, bearer(w.sync)), "its role inactive": request("PUT", t.path("/roles/account_admin"), `{"name":"x","status":"INACTIVE","permissions":["account:user:read"]}`, self), "its role deleted": request("DELETE", t.path("/roles/account_admin"), "", self),
		"removed by another account's admin": request("DELETE", t.path("/users/"+t.admin), "", bearer(w.tenant.adminToken)), "revoked by another account's admin": request("DELETE", grant, "", bearer(w.tenant.adminToken)), "revoked by its key": request("DELETE", grant, "", bearer(t.keySecret)), "removed by its key": request("DELETE", t.path("/users/"+t.admin), "", bearer(t.keySecret)),
	} {
		r.send("the last admin "+name, raw, 403)
	}
}

// absentGrants: what nobody holds can't be revoked, and is not granted by that.
func absentGrants(w *attacksWorld, r *refusals) {
	t := w.tenant
	for _, role := range []string{"account_admin", "account_reader", "team_member", t.role, "role-absent-v1", w.foreign.role} {
		for _, caller := range []string{t.bob, w.foreign.bob, "user-absent-v1", t.group} {
			for _, kind := range []string{"USER", "IAMGROUP"} {
				r.send("revoke of "+role+" from the "+kind+" "+caller, request("DELETE", t.path("/roles/"+role+"/assignments/"+caller+"?assigneeType="+kind), "", bearer(t.adminToken)), 404)
			}
		}
	}
	for _, role := range []string{"project_admin", "project_reader"} {
		for _, project := range []string{t.project, t.other} {
			r.send("revoke of "+role+" in "+project, request("DELETE", t.path("/roles/"+role+"/assignments/"+t.bob+"?projectId="+project), "", bearer(t.adminToken)), 404)
		}
	}
	r.denied("what was revoked without being there", strings.Replace(w.question("/api/v1/authorize/accounts/"+t.account), "X-User-ID: "+t.admin, "X-User-ID: "+t.bob, 1), "account:user:read")
}

// adminsAtOnce: two admins take each other away at once, by every way: one is left.
func adminsAtOnce(w *attacksWorld, r *refusals) {
	for round := range 9 {
		tag := fmt.Sprintf("duel%d", round)
		account, ids := "acct-"+tag+"-v1", []string{"user-" + tag + "a-v1", "user-" + tag + "b-v1"}
		w.must(w.t, 201, "POST", "/api/v1/accounts", w.platform, fmt.Sprintf(`{"id":%q,"name":"Duel","admin":{"email":"a@%s.example","external_id":%q}}`, account, tag, ids[0]))
		t := &tenant{w: w, account: account, adminToken: w.user(ids[0])}
		uuids := []string{w.wanted(w.must(w.t, 200, "GET", "/api/v1/users?external_id="+ids[0], w.sync, "")["users"].([]any)[0], "id"), t.newUser(ids[1], "b@"+tag+".example")}
		tokens := []string{t.adminToken, w.user(ids[1])}
		t.make(200, "PUT", "/roles/account_admin/assignments/"+ids[1], `{}`)
		take := func(actor, target int) string {
			return []string{
				request("DELETE", t.path("/roles/account_admin/assignments/"+ids[target]), "", bearer(tokens[actor])),
				request("DELETE", t.path("/users/"+ids[target]), "", bearer(tokens[actor])),
				request("PUT", "/api/v1/users/"+uuids[target], `{"status":"SUSPENDED"}`, bearer(tokens[actor]), "X-Account-ID: "+account),
			}[(round+actor*round/3)%3]
		}
		pair := r.both(take(0, 1), take(1, 0))
		if pair[0].Status != 200 || pair[1].Status != 403 && pair[1].Status != 401 {
			r.fault("two admins at once: %s: %s, %s", statuses(pair), pair[0].Body, pair[1].Body)
		}
		remaining := 0
		for _, token := range tokens {
			if a := r.decided("the admin that is left", request("GET", t.path("/roles"), "", bearer(token))); a.Status == 200 {
				remaining++
			}
		}
		if remaining != 1 {
			r.fault("two admins at once leave %d", remaining)
		}
	}
}

// invitationsAtOnce: one address, two accounts or two requests: one user, of one account.
func invitationsAtOnce(w *attacksWorld, r *refusals) {
	for round := range 8 {
		email := fmt.Sprintf("once%d@elsewhere.example", round)
		other, want := w.foreign, "200 409"
		if round%2 == 1 {
			other, want = w.tenant, "200 200"
		}
		pair := r.both(request("POST", w.tenant.path("/users/invite"), `{"email":"`+email+`"}`, bearer(w.tenant.adminToken)), request("POST", other.path("/users/invite"), `{"email":"`+strings.ToUpper(email)+`"}`, bearer(other.adminToken)))
		if statuses(pair) != want {
			r.fault("two invitations of one address: %s, want %s", statuses(pair), want)
		}
		w.idByEmail(email) // ends the test where there are two
		listed := strings.Count(strings.ToLower(w.read(w.tenant.path("/users?page_size=100"), w.tenant)+w.read(w.foreign.path("/users?page_size=100"), w.foreign)), `"email":"`+email)
		if listed != 1 {
			r.fault("%s is a member %d times", email, listed)
		}
	}
}

// sameNames guarantees that nothing is inherited by the name or id of something deleted or
// different.
func sameNames(w *attacksWorld, r *refusals) {
	t := w.tenant
	asked := func(user, action, project string) {
		raw := strings.Replace(w.question("/api/v1/authorize/accounts/"+t.account+project), "X-User-ID: "+t.admin, "X-User-ID: "+user, 1)
		r.denied(user+" inherits "+action, raw, action)
	}
	group := w.wanted(t.make(201, "POST", "/groups", `{"name":"again"}`), "group", "id")
	t.make(200, "PUT", "/groups/"+group+"/members/"+t.bob, "")
	t.make(200, "PUT", "/roles/account_reader/assignments/"+group, `{"assigneeType":"IAMGROUP"}`)
	t.make(200, "DELETE", "/groups/"+group, "")
	asked(t.bob, "account:user:read", "")
	group = w.wanted(t.make(201, "POST", "/groups", `{"name":"again"}`), "group", "id")
	t.make(200, "PUT", "/groups/"+group+"/members/"+t.bob, "")
	asked(t.bob, "account:user:read", "")

	for round := range 3 {
		id := fmt.Sprintf("user-oursagain%d-v1", round)
		t.newUser(id, fmt.Sprintf("again%d@ours.example", round))
		t.make(200, "PUT", "/roles/account_admin/assignments/"+id, `{}`)
		t.make(200, "DELETE", "/users/"+id, "")
		asked(id, "account:user:read", "")
		r.send("what a former member sees", request("GET", t.path("/roles"), "", bearer(w.user(id))), 403)
		r.send("the e-mail of somebody who left", request("POST", t.path("/users/invite"), fmt.Sprintf(`{"email":"again%d@ours.example"}`, round), bearer(t.adminToken)), 200)
		asked(id, "account:project:create", "") // a member again, and an admin no more
	}
	for _, id := range []string{t.deleted.project, t.project, w.foreign.project, w.foreign.deleted.project} {
		r.send("a project with the id "+id, request("POST", t.path("/projects"), `{"id":"`+id+`","name":"again"}`, bearer(w.platform)), 409)
		r.send("a project with an id of one's own", request("POST", t.path("/projects"), `{"id":"proj-mine-v1","name":"again"}`, bearer(t.adminToken)), 403)
	}
	// A group and a user with the same id are two.
	t.make(200, "PUT", "/roles/account_reader/assignments/"+t.group, `{"assigneeType":"IAMGROUP"}`)
	a := r.decided("a user with the id of a group", request("POST", "/api/v1/users", fmt.Sprintf(`{"email":"group@ours.example","external_id":%q,"account_id":%q}`, t.group, t.account), bearer(w.sync)))
	if a.Status == 201 {
		asked(t.group, "account:user:read", "")
	}
}
