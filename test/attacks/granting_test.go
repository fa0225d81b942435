package attacks_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// granting is a request of an operation that is granted, to be spoilt in one place.
type granting struct {
	operation
	ids    map[string]string // of the path
	query  map[string]string
	header map[string]string
	body   map[string]any
	// token is of who may, success the status.
	token   string
	success []int
}

// bodies are those of requests that are granted, by route; words in capitals are ids.
var bodies = map[string]string{
	"account.create": `{"id":"acct-new-v1","name":"New","admin":{"email":"new@new.example","name":"New","external_id":"user-new-v1"}}`, "account.update": `{"name":"Renamed"}`, "account.preview": `{"changes":[{"kind":"role_put","name":"New","scope":"ACCOUNT","permissions":["account:user:read"]}]}`, "project.create": `{"name":"New"}`, "project.update": `{"name":"Renamed"}`, "role.create": `{"name":"New","scope":"ACCOUNT","permissions":["account:user:read"]}`,
	"role.replace": `{"name":"Changed","permissions":["account:user:read"]}`, "group.create": `{"name":"New"}`, "agent.create": `{"name":"New"}`, "agent.update": `{"name":"Renamed"}`, "delegation.put": `{"permissions":["project:*:read"]}`, "approval.update": `{"status":"DENIED"}`, "cluster_claim.create": `{"lease_seconds":600}`, "cluster_claim.update": `{"extend_seconds":600}`, "user.create": `{"email":"made@ours.example","name":"Made"}`, "security_group.update": `{"name":"Renamed"}`, "security_group_rule.create": `{"direction":"egress","protocol":"tcp"}`,
	"security_group.create": `{"project_id":"PROJECT","name":"New"}`, "role_assignment.put": `{}`, "user.update": `{"name":"Changed"}`, "user_profile.update": `{"name":"Changed"}`, "user.invite": `{"email":"invite@ours.example"}`, "api_key.create": `{"key_name":"new","scopes":["read"]}`, "kubernetes_cluster.create": `{"name":"new","flavor_id":"f","image_id":"i"}`, "gpu_cluster.create": `{"cluster_name":"new","flavor_id":"f","image_id":"i"}`,
}

// granted is such a request; false is an operation without a listed grant.
func (w *attacksWorld) granted(o operation) (granting, bool) {
	t := w.tenant
	g := granting{
		operation: o, token: t.adminToken, success: []int{200, 201}, query: map[string]string{}, header: map[string]string{"X-Account-ID": t.account},
		ids: map[string]string{
			"accountId": t.account, "account_id": t.account, "projectId": t.project, "roleId": t.role, "groupId": t.group, "agentId": t.agent, "approvalId": "approval-00000000000000000000000000-v1", "userId": t.bob, "user_id": t.admin, "assigneeId": t.bob, "ruleId": t.rule, "claimId": w.claim,
		},
	}
	for part, id := range map[string]string{"/keys/{id}": t.key, "/security-groups/{id}": t.securityGroup, "/kubernetes/{id}": t.kubernetes, "/gpu-clusters/{id}": t.gpu} {
		if strings.Contains(o.path, part) {
			g.ids["id"] = id
		}
	}
	switch o.route {
	case "account.create", "account.update":
		g.token = w.platform
	case "user.create", "user.find":
		g.token = w.sync
		if o.route == "user.find" {
			g.query["email"] = t.bobEmail
		}
	case "cluster_claim.create", "cluster_claim.update":
		g.token = w.provisioner
	case "user.resend_invitation":
		g.ids["userId"], g.success = t.invited, []int{200, 429}
	case "role_assignment.put", "role_assignment.revoke":
		g.ids["roleId"], g.query["projectId"] = "project_reader", t.project
	case "project.delete": // it still has resources in it
		g.success = []int{409}
	case "delegation.put", "delegation.list", "delegation.get", "delegation.delete", "approval.list":
		g.ids["userId"] = t.admin
	case "approval.get", "approval.update": // no server is there to be called: test/mcp attacks them
		g.ids["userId"], g.success = t.admin, []int{404}
	case "user.update":
		g.ids["user_id"] = t.bobUUID
	}
	if o.body == nil {
		return g, true
	}
	body, ok := bodies[o.route]
	if err := json.Unmarshal([]byte(strings.ReplaceAll(body, "PROJECT", t.project)), &g.body); ok && err != nil {
		w.t.Fatalf("%s: %v", o.route, err)
	}
	return g, ok
}

// replaced is the request with another id in one place.
func (g granting) replaced(s slot, id string) granting {
	switch g.ids, g.query, g.header, g.body = maps.Clone(g.ids), maps.Clone(g.query), maps.Clone(g.header), maps.Clone(g.body); s.text {
	case "path":
		g.ids[s.name] = id
		if g.route == "user.update" || s.kind != "account" {
			break
		}
		g.header["X-Account-ID"] = id
	case "query":
		g.query[s.name] = id
	case "header":
		g.header[s.name] = id
	case "body":
		g.put(s.name, id)
		delete(g.query, s.name) // the body's counts
	}
	return g
}

// put sets a member of the body, or of an object in it.
func (g granting) put(name string, value any) {
	if outer, inner, nested := strings.Cut(name, "."); nested {
		object, _ := g.body[outer].(map[string]any)
		object = maps.Clone(object)
		object[inner], g.body[outer] = value, object
		return
	}
	if g.operation.body[name].kind == "array" {
		value = []any{value}
	}
	g.body[name] = value
}

// target is the path with its ids, and the query.
func (g granting) target() string {
	path := g.path
	for name, id := range g.ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	separator := "?"
	for _, name := range slices.Sorted(maps.Keys(g.query)) {
		path += separator + name + "=" + url.QueryEscape(g.query[name])
		separator = "&"
	}
	return path
}

// raw is the request by the bearer of a token or a key.
func (g granting) raw(token string) string {
	body := ""
	if g.operation.body != nil {
		body = encoded(g.body)
	}
	return g.rawBody(token, body)
}

func (g granting) rawBody(token, body string, lines ...string) string {
	lines = append(lines, bearer(token))
	for name, value := range g.header {
		lines = append(lines, name+": "+value)
	}
	return request(g.method, g.target(), body, lines...)
}

// granted sends every request as it is, to show that an attack is refused for its one fault. Reads
// and creations come first, deletions last, the inner before the outer.
func granted(w *attacksWorld, r *refusals, list []operation) {
	order := func(o operation) int {
		if o.method != "DELETE" {
			return strings.Count(o.path, "/") - 100
		}
		return -strings.Count(o.path, "/")
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b operation) int { return order(a) - order(b) })
	for _, o := range list {
		if o.public || o.private || o.door() {
			continue
		}
		g, ok := w.granted(o)
		if !ok {
			continue
		}
		if a := r.decided(o.route+" as it is", g.raw(g.token)); !slices.Contains(g.success, a.Status) {
			r.fault("%s as it is: %d %s", o.route, a.Status, a.Body)
		}
	}
}
