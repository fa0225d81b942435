package attacks_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// tenant is an account with one of everything that has an id.
type tenant struct {
	w                         *attacksWorld
	account, project, other   string // other is a second project
	admin, adminToken         string
	bob, bobToken, bobUUID    string // a member without a role
	invited                   string
	role, group, agent        string
	securityGroup, rule       string
	otherSecurityGroup        string // in the other project
	kubernetes, gpu           string
	key, keySecret            string // the admin's API key
	bobKey                    string
	deleted                   deletedIDs
	readKey, writeKey         string // secrets of keys with one scope
	bobEmail, adminEmail, tag string
}

// deletedIDs were there once.
type deletedIDs struct{ project, role, group, agent, securityGroup, rule, kubernetes, gpu, user string }

// word is n random bytes as text.
func word(n int) string {
	raw := make([]byte, (n+1)/2)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)[:n]
}

// newTenant makes one through the API.
func newTenant(w *attacksWorld, tag string) *tenant {
	t := &tenant{
		w: w, tag: tag, account: "acct-" + tag + "-v1", project: "proj-" + tag + "-v1", other: "proj-" + tag + "2-v1",
		admin: "user-" + tag + "admin-v1", bob: "user-" + tag + "bob-v1",
		adminEmail: "admin@" + tag + ".example", bobEmail: "bob@" + tag + ".example",
	}
	w.must(w.t, 201, "POST", "/api/v1/accounts", w.platform, fmt.Sprintf(
		`{"id":%q,"name":"Account %s","admin":{"email":%q,"name":"Admin","external_id":%q}}`, t.account, tag, t.adminEmail, t.admin))
	for _, id := range []string{t.project, t.other} {
		w.must(w.t, 201, "POST", t.path("/projects"), w.platform, fmt.Sprintf(`{"id":%q,"name":%q}`, id, id))
	}
	t.adminToken = w.user(t.admin)
	t.bobUUID = t.newUser(t.bob, t.bobEmail)
	t.bobToken = w.user(t.bob)
	t.make(200, "POST", "/users/invite", `{"email":"invited@`+tag+`.example"}`)
	t.invited = w.idByEmail("invited@" + tag + ".example")
	t.role = t.w.wanted(t.make(201, "POST", "/roles", `{"name":"Reader of users","scope":"ACCOUNT","permissions":["account:user:read"]}`), "id")
	t.group = t.w.wanted(t.make(201, "POST", "/groups", `{"name":"group"}`), "group", "id")
	t.agent = t.w.wanted(t.make(201, "POST", "/agents", `{"name":"agent","clients":[{"issuer":"portcullis","client_id":"`+tag+`"}]}`), "agent", "id")
	t.make(200, "PUT", "/users/"+t.admin+"/delegations/"+t.agent, `{"permissions":["*:*:*"]}`)
	t.makeResources()
	t.makeKeys()
	t.makeAndDelete()
	return t
}

// newUser is a member, made by the service that provisions them; it gives the UUID.
func (t *tenant) newUser(id, email string) string {
	made := t.w.must(t.w.t, 201, "POST", "/api/v1/users", t.w.sync, fmt.Sprintf(
		`{"email":%q,"name":"Member","external_id":%q,"account_id":%q}`, email, id, t.account))
	return t.w.wanted(made, "user", "id")
}

// idByEmail finds a user's external id.
func (w *attacksWorld) idByEmail(email string) string {
	users, _ := w.must(w.t, 200, "GET", "/api/v1/users?email="+email, w.sync, "")["users"].([]any)
	if len(users) != 1 {
		w.t.Fatalf("%d users have the address %s", len(users), email)
	}
	return w.wanted(users[0], "external_id")
}

func (t *tenant) makeResources() {
	t.securityGroup = t.newSecurityGroup(t.project, "web")
	t.newSecurityGroup(t.project, "db")
	t.make(201, "POST", "/projects/"+t.project+"/kubernetes", strings.Replace(kubernetesBody, "cluster", "second", 1))
	t.make(201, "POST", "/projects/"+t.project+"/gpu-clusters", strings.Replace(gpuBody, `"cluster"`, `"second"`, 1))
	t.make(201, "POST", "/groups", `{"name":"second"}`)
	second := t.w.wanted(t.make(201, "POST", "/agents", `{"name":"second"}`), "agent", "id")
	t.make(200, "PUT", "/users/"+t.admin+"/delegations/"+second, `{"permissions":["project:*:read"]}`)
	for _, user := range []string{t.bob, t.invited} {
		t.make(200, "PUT", "/groups/"+t.group+"/members/"+user, "")
	}
	t.otherSecurityGroup = t.newSecurityGroup(t.other, "web")
	t.rule = t.w.wanted(t.make(201, "POST", t.sgPath(t.project, "/"+t.securityGroup+"/rules"), ruleBody), "security_group_rule", "id")
	t.kubernetes = t.w.wanted(t.make(201, "POST", "/projects/"+t.project+"/kubernetes", kubernetesBody), "cluster", "base", "cluster_id")
	t.gpu = t.w.wanted(t.make(201, "POST", "/projects/"+t.project+"/gpu-clusters", gpuBody), "cluster", "id")
}

// keyPrefix begins every API key; the id of 26 characters follows.
const keyPrefix = "pcl_sk_live_"

// Bodies that are granted.
const (
	ruleBody       = `{"direction":"ingress","protocol":"tcp","port_range_min":80,"port_range_max":80}`
	kubernetesBody = `{"name":"cluster","flavor_id":"f","image_id":"i"}`
	gpuBody        = `{"cluster_name":"cluster","flavor_id":"f","image_id":"i"}`
)

func (t *tenant) newSecurityGroup(project, name string) string {
	return t.w.wanted(t.make(201, "POST", t.sgPath(project, ""), fmt.Sprintf(`{"project_id":%q,"name":%q}`, project, name),
		"X-Account-ID: "+t.account), "security_group", "id")
}

func (t *tenant) sgPath(project, rest string) string {
	return "/projects/" + project + "/security-groups" + rest
}

func (t *tenant) makeKeys() {
	t.key, t.keySecret = t.newKey(t.admin, t.adminToken, `"read","write"`)
	_, t.readKey = t.newKey(t.admin, t.adminToken, `"read"`)
	_, t.writeKey = t.newKey(t.admin, t.adminToken, `"write"`)
	t.bobKey, _ = t.newKey(t.bob, t.bobToken, `"read"`)
}

// newKey gives the key's id and its secret, which is marked.
func (t *tenant) newKey(user, token, scopes string) (id, secret string) {
	made := t.w.must(t.w.t, 201, "POST", t.path("/users/"+user+"/keys"), token, `{"key_name":"key","scopes":[`+scopes+`]}`)
	id, secret = t.w.wanted(made, "data", "id"), t.w.wanted(made, "data", "raw_key")
	t.w.marks.add("an API key", secret[len(keyPrefix)+26:]) // the part that is secret
	return id, secret
}

// makeAndDelete leaves ids that were there once.
func (t *tenant) makeAndDelete() {
	d := &t.deleted
	d.project, d.user = "proj-"+t.tag+"gone-v1", "user-"+t.tag+"gone-v1"
	t.w.must(t.w.t, 201, "POST", t.path("/projects"), t.w.platform, fmt.Sprintf(`{"id":%q,"name":"gone"}`, d.project))
	t.newUser(d.user, "gone@"+t.tag+".example")
	d.role = t.w.wanted(t.make(201, "POST", "/roles", `{"name":"gone","scope":"ACCOUNT","permissions":["account:user:read"]}`), "id")
	d.group = t.w.wanted(t.make(201, "POST", "/groups", `{"name":"gone"}`), "group", "id")
	d.agent = t.w.wanted(t.make(201, "POST", "/agents", `{"name":"gone"}`), "agent", "id")
	d.securityGroup = t.newSecurityGroup(t.project, "gone")
	d.rule = t.w.wanted(t.make(201, "POST", t.sgPath(t.project, "/"+t.securityGroup+"/rules"), `{"direction":"egress","protocol":"udp"}`), "security_group_rule", "id")
	d.kubernetes, d.gpu = t.kubernetes, t.gpu
	for _, rest := range []string{
		"/projects/" + d.project, "/users/" + d.user, "/roles/" + d.role, "/groups/" + d.group, "/agents/" + d.agent,
		t.sgPath(t.project, "/"+d.securityGroup), t.sgPath(t.project, "/"+t.securityGroup+"/rules/"+d.rule),
	} {
		t.make(200, "DELETE", rest, "")
	}
}

// path is a target below the account.
func (t *tenant) path(rest string) string { return "/api/v1/accounts/" + t.account + rest }

// make is a request of the admin that has to be granted.
func (t *tenant) make(status int, method, rest, body string, lines ...string) map[string]any {
	return t.w.must(t.w.t, status, method, t.path(rest), t.adminToken, body, lines...)
}

// everything are the targets of all that can be read of the account.
func (t *tenant) everything() []string {
	below := []string{"", "/projects", "/roles?pageSize=100", "/groups", "/groups/" + t.group + "/members", "/agents", "/users/" + t.admin + "/delegations", "/users/" + t.admin + "/approvals", "/users", "/users?q=u", "/roles/" + t.role + "/assignments", "/roles/account_admin/assignments", "/assignments"}
	for _, user := range []string{t.admin, t.bob, t.invited} {
		below = append(below, "/roles/users/"+user, "/users/"+user+"/keys")
	}
	for _, project := range []string{t.project, t.other} {
		for _, list := range []string{"/security-groups", "/kubernetes", "/gpu-clusters"} {
			below = append(below, "/projects/"+project+list)
		}
	}
	out := []string{"/api/v1/users?email=" + t.bobEmail, "/api/v1/users?email=" + t.adminEmail}
	for _, rest := range below {
		out = append(out, t.path(rest))
	}
	return out
}
