package attacks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tenancyAttacks are every endpoint of the document × each of its ids × the id's owners. Somebody
// else's id is answered like an unknown one, and nothing changes.
func tenancyAttacks(w *attacksWorld, r *refusals) {
	list := operations(w)
	for _, o := range list {
		if o.public || o.private || o.door() {
			continue
		}
		base, ok := w.granted(o)
		if !ok {
			r.fault("%s (%s %s) has no row: what request of it is granted?", o.route, o.method, o.path)
			continue
		}
		r.unchanged(o.route, func() {
			for _, s := range r.slots(o) {
				for caller, token := range w.callers() {
					r.compare(o, base, s, caller, token)
				}
			}
		})
	}
	r.unchanged("page tokens", func() { pageTokens(w, r, list) })
	r.unchanged("idempotency keys", func() { idempotencyKeys(w, r) })
	r.unchanged("names that differ", func() { twoNames(w, r) })
	r.unchanged("doors", func() { doorsAboutOthers(w, r); doorsAsTheyAre(w, r) })
	granted(w, r, list)
}

// callers are an admin, a member without a role, an admin's key, and a service that may only ask.
func (w *attacksWorld) callers() map[string]string {
	return map[string]string{"admin": w.tenant.adminToken, "member": w.tenant.bobToken, "key": w.tenant.keySecret, "service": w.checker}
}

// slot is where an id stands in a request.
type slot struct{ text, name, kind string }

// kinds are what the ids of the document name, by the parameter or member; "" names nothing that
// belongs to an account.
var kinds = map[string]string{
	"accountId": "account", "account_id": "account", "X-Account-ID": "account", "projectId": "project", "project_id": "project", "roleId": "role", "groupId": "group", "agentId": "agent", "approvalId": "approval", "userId": "user", "user_id": "user", "assigneeId": "user", "ruleId": "rule", "claimId": "claim", "keys/{id}": "key",
	"security-groups/{id}": "securityGroup", "kubernetes/{id}": "kubernetes", "gpu-clusters/{id}": "gpu", "remote_security_group_id": "securityGroup", "security_group_ids": "securityGroup", "resourceId": "resource",
	"id": "any", "external_id": "user", "admin.external_id": "user", "authentication_partner_id": "user", "flavor_id": "", "image_id": "", "ssh_key_id": "", "pricing_template_id": "",
}

// looksLikeID finds the names that the table must know.
var looksLikeID = regexp.MustCompile(`(?i)(^|_|\.|[a-z])ids?$`)

// slots are all ids of an operation; one that the table does not know is a fault.
func (r *refusals) slots(o operation) []slot {
	var out []slot
	add := func(text, name, key string) {
		kind, ok := kinds[key]
		switch {
		case !ok && (text == "path" || looksLikeID.MatchString(key)):
			r.fault("%s takes %s in its %s, and no row says what it names", o.route, name, text)
		case kind != "":
			out = append(out, slot{text, name, kind})
		}
	}
	for _, name := range o.params {
		key := name
		if name == "id" {
			before := o.path[:strings.Index(o.path, "/{id}")]
			key = before[strings.LastIndex(before, "/")+1:] + "/{id}"
		}
		add("path", name, key)
	}
	for _, name := range o.queries {
		add("query", name, name)
	}
	for name, p := range o.body {
		if p.kind != "" { // else it is ignored
			add("body", name, name)
		}
		for inner := range p.inner {
			add("body", name+"."+inner, name+"."+inner)
		}
	}
	if slices.Contains([]string{"security_group.create", "security_group.list", "user.update"}, o.route) {
		add("header", "X-Account-ID", "X-Account-ID")
	}
	return out
}

// values are ids of a kind by whose they are; "absent" is what the others are held against.
func (w *attacksWorld) values(kind, caller string) map[string]string {
	tenant, foreign := w.tenant, w.foreign
	index := map[string]map[string]string{
		"account":       {"theirs": foreign.account, "absent": "acct-absent-v1"},
		"project":       {"theirs": foreign.project, "theirs, deleted": foreign.deleted.project, "deleted": tenant.deleted.project, "absent": "proj-absent-v1"},
		"role":          {"theirs": foreign.role, "theirs, deleted": foreign.deleted.role, "deleted": tenant.deleted.role, "absent": "role-00000000000000000000000000-v1"},
		"group":         {"theirs": foreign.group, "theirs, deleted": foreign.deleted.group, "deleted": tenant.deleted.group, "absent": "group-00000000000000000000000000-v1"},
		"agent":         {"theirs": foreign.agent, "theirs, deleted": foreign.deleted.agent, "deleted": tenant.deleted.agent, "a group": tenant.group, "absent": "agent-00000000000000000000000000-v1"},
		"approval":      {"an agent": tenant.agent, "their agent": foreign.agent, "absent": "approval-00000000000000000000000000-v1"}, // test/mcp has some
		"user":          {"theirs": foreign.bob, "their admin": foreign.admin, "theirs by UUID": foreign.bobUUID, "theirs, deleted": foreign.deleted.user, "deleted": tenant.deleted.user, "theirs, invited": foreign.invited, "a group": foreign.group, "absent": "user-absent-v1"},
		"key":           {"theirs": foreign.key, "another user's": tenant.bobKey, "theirs, a member's": foreign.bobKey, "absent": "apikey-00000000000000000000000000-v1"},
		"securityGroup": {"theirs": foreign.securityGroup, "another project's": tenant.otherSecurityGroup, "deleted": tenant.deleted.securityGroup, "theirs, deleted": foreign.deleted.securityGroup, "absent": "sg-00000000000000000000000000-v1"},
		"rule":          {"theirs": foreign.rule, "deleted": tenant.deleted.rule, "theirs, deleted": foreign.deleted.rule, "a group": tenant.securityGroup, "absent": "sgr-00000000000000000000000000-v1"},
		"kubernetes":    {"theirs": foreign.kubernetes, "of another kind": tenant.gpu, "absent": "cluster-00000000000000000000000000-v1"},
		"gpu":           {"theirs": foreign.gpu, "of another kind": tenant.kubernetes, "absent": "gpu-00000000000000000000000000-v1"},
		"claim":         {"another one's": w.claim, "absent": "claim-00000000000000000000000000-v1"},
		"resource":      {"theirs": "security-groups/" + foreign.securityGroup, "absent": "security-groups/sg-00000000000000000000000000-v1"},
		"any":           {"theirs": foreign.bobUUID, "absent": "00000000-0000-4000-8000-000000000000"},
	}[kind]
	if kind == "user" && caller == "member" {
		index["another user's"] = w.tenant.admin
	}
	return index
}

// malformed are unused ids; some store or server reads each as another one.
func malformed(self string) []string {
	out := []string{"*", "'", "$", "a,b", "a+b", "a|b", "a;b", "(", "!", strings.Repeat("a", 129), "a%20b", "%00", self + "%00", self + "%20", self + "%0a", "%2e", "..", self + "%2f", "%24ne", "%7b%22%24ne%22%3a1%7d", "%ef%bc%8e", self + "\x80"}
	if upper := strings.ToUpper(self); upper != self {
		out = append(out, upper)
	}
	return out
}

// compare sends the request with each id in the slot and holds the answers against each other.
func (r *refusals) compare(o operation, base granting, s slot, caller, token string) {
	values := r.w.values(s.kind, caller)
	absent := r.decided(fmt.Sprintf("%s by %s, %s %s absent", o.route, caller, s.text, s.name), base.replaced(s, values["absent"]).raw(token))
	for owner, id := range values {
		name := fmt.Sprintf("%s by %s, %s %s %s", o.route, caller, s.text, s.name, owner)
		a := r.decided(name, base.replaced(s, id).raw(token))
		if a.Status >= 500 || a.Status < 300 && !o.changesNothing() {
			r.fault("%s: %d %.300s", name, a.Status, a.Body)
		}
		if s.kind == "project" && owner == "deleted" {
			continue // the own account's deleted project is 404, an unknown one is 403
		}
		got, want := strings.ReplaceAll(a.Body, id, "ID"), strings.ReplaceAll(absent.Body, values["absent"], "ID")
		if a.Status != absent.Status || got != want {
			r.fault("%s is told from an absent one: %d %s\nabsent: %d %s", name, a.Status, got, absent.Status, want)
		}
	}
	if s.text != "path" {
		return
	}
	for _, id := range malformed(base.ids[s.name]) {
		name := fmt.Sprintf("%s by %s, %s %s %.40q", o.route, caller, s.text, s.name, id)
		if a := r.decided(name, base.replaced(s, id).raw(token)); a.Status >= 500 || a.Status < 300 && !o.changesNothing() {
			r.fault("%s: %d %.300s", name, a.Status, a.Body)
		}
	}
}

// changesNothing says that success may mean an absent thing: a list filtered by it is empty, and a
// user outside a group is removed from it.
func (o operation) changesNothing() bool {
	return o.method == "GET" || o.route == "group_member.remove"
}

// decided sends a request, and gives its answer to be judged by the caller.
func (r *refusals) decided(name, raw string) answer {
	r.mu.Lock()
	r.cases++
	r.mu.Unlock()
	a, err := r.w.decided(raw)
	if err != nil {
		r.fault("%s: no answer: %v", name, err)
		return a
	}
	r.shape(name, a)
	return a
}
