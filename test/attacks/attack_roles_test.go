package attacks_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// roleAttacks: nobody grants more than they have, by any way and at any place; an account keeps an
// admin; what was not given can't be taken; of two at once one wins; a name that comes again
// brings nothing along.
func roleAttacks(w *attacksWorld, r *refusals) {
	p := newPromoter(w)
	r.unchanged("promotion", func() {
		p.grants(r)
		p.roles(r)
		p.members(r)
		p.otherWays(r)
	})
	r.unchanged("the last admin", func() { lastAdmin(w, r) })
	r.unchanged("what is not there", func() { absentGrants(w, r) })
	p.untilLater(r)
	adminsAtOnce(w, r)
	invitationsAtOnce(w, r)
	sameNames(w, r)
}

// promoter is a member who may handle roles and groups, and little else.
type promoter struct {
	w         *attacksWorld
	id, token string
	uuid      string
	role      string // what it holds
	admins    string // a group that holds account_admin
	wide      string // a custom role of more than the promoter has, which somebody holds
	key       string // a key of an admin that may only write
}

const promoterPermissions = `"account:role:create","account:role:update","account:role:read","account:role:delete","account:role_assignment:update","account:role_assignment:delete","account:group:create","account:group:update","account:group:read","account:user:invite","account:user:update","account:user:delete","account:user:read"`

func newPromoter(w *attacksWorld) *promoter {
	t := w.tenant
	p := &promoter{w: w, id: "user-oursmallory-v1"}
	p.uuid, p.token = t.newUser(p.id, "mallory@ours.example"), w.user(p.id)
	p.role = w.wanted(t.make(201, "POST", "/roles", `{"name":"Manager","scope":"ACCOUNT","permissions":[`+promoterPermissions+`]}`), "id")
	p.wide = w.wanted(t.make(201, "POST", "/roles", `{"name":"Wide","scope":"ACCOUNT","permissions":["account:project:create","project:*:*"]}`), "id")
	p.admins = w.wanted(t.make(201, "POST", "/groups", `{"name":"admins"}`), "group", "id")
	t.make(200, "PUT", "/roles/"+p.role+"/assignments/"+p.id, `{}`)
	t.make(200, "PUT", "/roles/account_admin/assignments/"+p.admins, `{"assigneeType":"IAMGROUP"}`)
	p.key = t.writeKey
	return p
}

func (p *promoter) try(r *refusals, name, method, rest, body string, want ...int) {
	r.send(name, request(method, p.w.tenant.path(rest), body, bearer(p.token)), want...)
}

// grants are of roles that the promoter lacks: to itself, a friend and groups, with every option.
func (p *promoter) grants(r *refusals) {
	t := p.w.tenant
	for _, role := range []string{"account_admin", "account_reader", "team_member", p.wide} {
		for caller, kind := range map[string]string{p.id: "USER", t.bob: "USER", t.group: "IAMGROUP", t.invited: "USER"} {
			for _, option := range []string{`"status":"ACTIVE"`, `"expiresAt":"2099-01-01T00:00:00Z"`, `"roleId":"` + p.role + `"`, `"status":"INACTIVE"`} {
				want := []int{403}
				if strings.Contains(option, "roleId") && caller != p.id {
					want = []int{403, 404} // they do not hold what is to be replaced
				}
				p.try(r, "grant of "+role+" to "+caller+" with "+option, "PUT", "/roles/"+role+"/assignments/"+caller, `{"assigneeType":"`+kind+`",`+option+`}`, want...)
			}
		}
	}
	for _, role := range []string{"project_admin", "project_reader"} {
		for _, project := range []string{t.project, t.other} {
			for _, caller := range []string{p.id, t.bob} {
				p.try(r, "grant of "+role+" in "+project, "PUT", "/roles/"+role+"/assignments/"+caller+"?projectId="+project, `{}`, 403)
				p.try(r, "grant of "+role+" in the body's "+project, "PUT", "/roles/"+role+"/assignments/"+caller, `{"projectId":"`+project+`"}`, 403)
			}
		}
	}
	for _, role := range []string{"ACCOUNT_ADMIN", "Account_admin", "account-admin", "account_admin.", "organization_admin", p.w.foreign.role, "data.grants"} {
		p.try(r, "grant of "+role, "PUT", "/roles/"+role+"/assignments/"+p.id, `{}`, 404)
	}
}

// roles are made and changed to hold more than their maker has.
func (p *promoter) roles(r *refusals) {
	for _, pattern := range []string{"account:*:*", "*:*:*", "*:user:read", "account:*:read", "account:user:*", "account:role:*", "account:project:create", "account:authorization:check", "account:api_key:read", "account:api_key:delete", "account:group:delete"} {
		body := `"name":"x","permissions":["account:user:read","` + pattern + `"]`
		p.try(r, "role of "+pattern, "POST", "/roles", `{"scope":"ACCOUNT",`+body+`}`, 403)
		p.try(r, "inactive role of "+pattern, "POST", "/roles", `{"scope":"ACCOUNT","status":"INACTIVE",`+body+`}`, 403)
		p.try(r, "own role widened to "+pattern, "PUT", "/roles/"+p.role, `{`+body+`}`, 403)
		p.try(r, "another role widened to "+pattern, "PUT", "/roles/"+p.w.tenant.role, `{`+body+`}`, 403)
	}
	for _, pattern := range []string{"project:*:*", "project:instance:read", "resource:*:*", "project:security_group:create", "*:*:*"} {
		for _, scope := range []string{"PROJECT", "RESOURCE"} {
			for _, project := range []string{"", `"projectId":"` + p.w.tenant.project + `",`} {
				want := 403
				if pattern == "*:*:*" {
					want = 400 // no pattern of such a role
				}
				p.try(r, "role of "+pattern, "POST", "/roles", `{"name":"x",`+project+`"scope":"`+scope+`","permissions":["`+pattern+`"]}`, want)
			}
		}
	}
	for _, role := range []string{"account_admin", "account_reader", "team_member", "project_admin", "project_reader"} {
		for _, body := range []string{`{"name":"x","permissions":["account:user:read"]}`, `{"name":"x","status":"INACTIVE","permissions":["account:user:read"]}`} {
			r.send("system role "+role+" changed", request("PUT", p.w.tenant.path("/roles/"+role), body, bearer(p.w.tenant.adminToken)), 403)
		}
		r.send("system role "+role+" deleted", request("DELETE", p.w.tenant.path("/roles/"+role), "", bearer(p.w.tenant.adminToken)), 403)
		r.send("a role with the id of "+role, request("POST", p.w.tenant.path("/roles"), `{"name":"`+role+`","scope":"ACCOUNT","permissions":["account:user:read"]}`, bearer(p.w.tenant.adminToken)), 409)
	}
}

// members are put into groups that hold more, and groups are given more.
func (p *promoter) members(r *refusals) {
	for _, caller := range []string{p.id, p.w.tenant.bob, p.w.tenant.invited} {
		p.try(r, caller+" into the group of admins", "PUT", "/groups/"+p.admins+"/members/"+caller, "", 403)
		p.try(r, caller+" into their group", "PUT", "/groups/"+p.w.foreign.group+"/members/"+caller, "", 404)
	}
	for _, caller := range []string{p.w.foreign.bob, p.w.foreign.admin, p.w.tenant.group, "user-absent-v1"} {
		p.try(r, caller+" into a group of ours", "PUT", "/groups/"+p.w.tenant.group+"/members/"+caller, "", 404)
	}
	for _, group := range []string{p.w.tenant.group, p.admins} {
		p.try(r, "account_admin for the group "+group, "PUT", "/roles/account_admin/assignments/"+group, `{"assigneeType":"IAMGROUP"}`, 403)
		p.try(r, "a group taken for a user", "PUT", "/roles/"+p.role+"/assignments/"+group, `{"assigneeType":"USER"}`, 404)
	}
	p.try(r, "a user taken for a group", "PUT", "/roles/"+p.role+"/assignments/"+p.w.tenant.bob, `{"assigneeType":"IAMGROUP"}`, 404)
	p.try(r, "an assignee of no kind", "PUT", "/roles/"+p.role+"/assignments/"+p.w.tenant.bob, `{"assigneeType":"SERVICE"}`, 400)
}

// otherWays lead to an admin's account, or to a credential of more than one has.
func (p *promoter) otherWays(r *refusals) {
	tenant, foreign := p.w.tenant, p.w.foreign
	update := func(name, user, body string, want ...int) {
		r.send(name, request("PUT", "/api/v1/users/"+user, body, bearer(p.token), "X-Account-ID: "+tenant.account), want...)
	}
	admin := text(p.w.must(p.w.t, 200, "GET", "/api/v1/users?email="+tenant.adminEmail, p.w.sync, "")["users"].([]any)[0], "id")
	for _, body := range []string{`{"email":"mallory2@ours.example"}`, `{"is_verified":true}`, `{"authentication_type":"x"}`, `{"authentication_partner":"OIDC"}`, `{"authentication_partner_id":"` + p.id + `"}`, `{"authentication_partner_id":"` + tenant.admin + `"}`} {
		update("identity of the admin: "+body, admin, body, 403)
		update("own identity: "+body, p.uuid, body, 403)
	}
	update("the admin suspended", admin, `{"status":"SUSPENDED"}`, 403)
	update("a new user made invited", p.uuid, `{"status":"INVITED"}`, 400, 403)
	update("another account's user", foreign.bobUUID, `{"name":"x"}`, 403, 404)
	for _, c := range []struct{ name, method, rest, body string }{
		{"the account renamed", "PATCH", "", `{"name":"x"}`},
		{"the admin removed", "DELETE", "/users/" + tenant.admin, ""},
		{"the admin's role revoked", "DELETE", "/roles/account_admin/assignments/" + tenant.admin, ""},
		{"a project made", "POST", "/projects", `{"name":"x"}`},
		{"a key for the admin", "POST", "/users/" + tenant.admin + "/keys", `{"key_name":"k","scopes":["read"]}`},
		{"the admin's profile changed", "PUT", "/users/" + tenant.admin + "/profile", `{"name":"x"}`},
		{"the admin's profile read", "GET", "/users/" + tenant.admin + "/profile", ""},
		{"the admin's keys read", "GET", "/users/" + tenant.admin + "/keys", ""},
		{"the admin's key revoked", "DELETE", "/users/" + tenant.admin + "/keys/" + tenant.key, ""},
		{"a project deleted", "DELETE", "/projects/" + tenant.other, ""},
		{"the group of admins deleted", "DELETE", "/groups/" + p.admins, ""},
	} {
		p.try(r, c.name, c.method, c.rest, c.body, 403)
	}
	r.send("authorization.check about the admin", request("POST", "/api/v1/authorize/x", "", bearer(p.token), "X-User-ID: "+tenant.admin, "X-Account-ID: "+tenant.account, "X-Action: project:x:read"), 403)
	for _, role := range []string{"account_admin", "account_reader", p.role} { // an admin's key that may only write has less than the admin
		r.send("grant of "+role+" by a key that may only write", request("PUT", tenant.path("/roles/"+role+"/assignments/"+tenant.bob), `{}`, bearer(p.key)), 403)
	}
	r.send("member of the admins by a key that may only write", request("PUT", tenant.path("/groups/"+p.admins+"/members/"+tenant.bob), ``, bearer(p.key)), 403)
}

// untilLater: a grant that outlives the granter's own is more than they have.
func (p *promoter) untilLater(r *refusals) {
	t := p.w.tenant
	until := time.Now().Add(time.Hour).UTC()
	stamp := func(d time.Duration) string { return until.Add(d).Format("2006-01-02T15:04:05.000Z") }
	t.make(200, "PUT", "/roles/"+p.role+"/assignments/"+p.id, `{"expiresAt":"`+stamp(0)+`"}`)
	r.unchanged("grants until later", func() {
		for _, body := range []string{`{}`, `{"expiresAt":"` + stamp(time.Millisecond) + `"}`, `{"expiresAt":"` + stamp(time.Hour) + `"}`, `{"expiresAt":"9999-12-31T23:59:59Z"}`, `{"expiresAt":null}`} {
			for _, caller := range []string{p.id, t.bob} {
				p.try(r, "grant until later "+body+" to "+caller, "PUT", "/roles/"+p.role+"/assignments/"+caller, body, 403)
			}
			p.try(r, "role until later", "POST", "/roles", `{"name":"later","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403)
		}
	})
	t.make(200, "PUT", "/roles/"+p.role+"/assignments/"+p.id, `{"status":"INACTIVE"}`) // demoted: the next grant is refused
	r.unchanged("grants of one who was demoted", func() {
		for range 5 {
			p.try(r, "grant of one who was demoted", "PUT", "/roles/"+p.role+"/assignments/"+t.bob, `{}`, 403)
			p.try(r, "role of one who was demoted", "POST", "/roles", `{"name":"x","scope":"ACCOUNT","permissions":["account:user:read"]}`, 403)
		}
	})
}

// both sends two requests at once and gives the statuses, sorted.
func (r *refusals) both(a, b string) [2]answer {
	var out [2]answer
	var group sync.WaitGroup
	for i, raw := range []string{a, b} {
		group.Go(func() { out[i] = r.decided("two at once", raw) })
	}
	group.Wait()
	slices.SortFunc(out[:], func(x, y answer) int { return x.Status - y.Status })
	return out
}

func statuses(pair [2]answer) string { return fmt.Sprint(pair[0].Status, " ", pair[1].Status) }
