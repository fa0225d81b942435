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
		base, known := w.granted(o)
		if !known {
			r.fault("%s (%s %s) has no row: what request of it is granted?", o.route, o.method, o.path)
			continue
		}
		r.unchanged(o.route, func() {
			for _, s := range r.slots(o) {
				for who, token := range w.callers() {
					r.compare(o, base, s, who, token)
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
	return map[string]string{"admin": w.ours.adminToken, "member": w.ours.bobToken, "key": w.ours.keySecret, "service": w.checker}
}

// slot is where an id stands in a request.
type slot struct{ in, name, kind string }

// kinds are what the ids of the document name, by the parameter or member; "" names nothing that
// belongs to an account.
var kinds = map[string]string{
	"accountId": "account", "account_id": "account", "X-Account-ID": "account", "projectId": "project", "project_id": "project", "roleId": "role", "groupId": "group", "userId": "user", "user_id": "user", "assigneeId": "user", "ruleId": "rule", "claimId": "claim", "keys/{id}": "key",
	"security-groups/{id}": "securityGroup", "kubernetes/{id}": "kubernetes", "gpu-clusters/{id}": "gpu", "remote_security_group_id": "securityGroup", "security_group_ids": "securityGroup", "resourceId": "resource",
	"id": "any", "external_id": "user", "admin.external_id": "user", "authentication_partner_id": "user", "flavor_id": "", "image_id": "", "ssh_key_id": "", "pricing_template_id": "",
}

// looksLikeID finds the names that the table must know.
var looksLikeID = regexp.MustCompile(`(?i)(^|_|\.|[a-z])ids?$`)

// slots are all ids of an operation; one that the table does not know is a fault.
func (r *refusals) slots(o operation) []slot {
	var out []slot
	add := func(in, name, key string) {
		kind, known := kinds[key]
		switch {
		case !known && (in == "path" || looksLikeID.MatchString(key)):
			r.fault("%s takes %s in its %s, and no row says what it names", o.route, name, in)
		case kind != "":
			out = append(out, slot{in, name, kind})
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
func (w *attacksWorld) values(kind, who string) map[string]string {
	ours, theirs := w.ours, w.theirs
	of := map[string]map[string]string{
		"account":       {"theirs": theirs.account, "absent": "acct-absent-v1"},
		"project":       {"theirs": theirs.project, "theirs, deleted": theirs.deleted.project, "deleted": ours.deleted.project, "absent": "proj-absent-v1"},
		"role":          {"theirs": theirs.role, "theirs, deleted": theirs.deleted.role, "deleted": ours.deleted.role, "absent": "role-00000000000000000000000000-v1"},
		"group":         {"theirs": theirs.group, "theirs, deleted": theirs.deleted.group, "deleted": ours.deleted.group, "absent": "group-00000000000000000000000000-v1"},
		"user":          {"theirs": theirs.bob, "their admin": theirs.admin, "theirs by UUID": theirs.bobUUID, "theirs, deleted": theirs.deleted.user, "deleted": ours.deleted.user, "theirs, invited": theirs.invited, "a group": theirs.group, "absent": "user-absent-v1"},
		"key":           {"theirs": theirs.key, "another user's": ours.bobKey, "theirs, a member's": theirs.bobKey, "absent": "apikey-00000000000000000000000000-v1"},
		"securityGroup": {"theirs": theirs.securityGroup, "another project's": ours.otherSecurityGroup, "deleted": ours.deleted.securityGroup, "theirs, deleted": theirs.deleted.securityGroup, "absent": "sg-00000000000000000000000000-v1"},
		"rule":          {"theirs": theirs.rule, "deleted": ours.deleted.rule, "theirs, deleted": theirs.deleted.rule, "a group": ours.securityGroup, "absent": "sgr-00000000000000000000000000-v1"},
		"kubernetes":    {"theirs": theirs.kubernetes, "of another kind": ours.gpu, "absent": "cluster-00000000000000000000000000-v1"},
		"gpu":           {"theirs": theirs.gpu, "of another kind": ours.kubernetes, "absent": "gpu-00000000000000000000000000-v1"},
		"claim":         {"another one's": w.claim, "absent": "claim-00000000000000000000000000-v1"},
		"resource":      {"theirs": "security-groups/" + theirs.securityGroup, "absent": "security-groups/sg-00000000000000000000000000-v1"},
		"any":           {"theirs": theirs.bobUUID, "absent": "00000000-0000-4000-8000-000000000000"},
	}[kind]
	if kind == "user" && who == "member" {
		of["another user's"] = w.ours.admin
	}
	return of
}

// malformed are unused ids; some store or server reads each as another one.
func malformed(own string) []string {
	out := []string{"*", "'", "$", "a,b", "a+b", "a|b", "a;b", "(", "!", strings.Repeat("a", 129), "a%20b", "%00", own + "%00", own + "%20", own + "%0a", "%2e", "..", own + "%2f", "%24ne", "%7b%22%24ne%22%3a1%7d", "%ef%bc%8e", own + "\x80"}
	if upper := strings.ToUpper(own); upper != own {
		out = append(out, upper)
	}
	return out
}

// compare sends the request with each id in the slot and holds the answers against each other.
func (r *refusals) compare(o operation, base granting, s slot, who, token string) {
	values := r.w.values(s.kind, who)
	absent := r.decided(fmt.Sprintf("%s by %s, %s %s absent", o.route, who, s.in, s.name), base.with(s, values["absent"]).raw(token))
	for whose, id := range values {
		name := fmt.Sprintf("%s by %s, %s %s %s", o.route, who, s.in, s.name, whose)
		a := r.decided(name, base.with(s, id).raw(token))
		if a.Status >= 500 || a.Status < 300 && !o.changesNothing() {
			r.fault("%s: %d %.300s", name, a.Status, a.Body)
		}
		if s.kind == "project" && whose == "deleted" {
			continue // the own account's deleted project is 404, an unknown one is 403
		}
		got, want := strings.ReplaceAll(a.Body, id, "ID"), strings.ReplaceAll(absent.Body, values["absent"], "ID")
		if a.Status != absent.Status || got != want {
			r.fault("%s is told from an absent one: %d %s\nabsent: %d %s", name, a.Status, got, absent.Status, want)
		}
	}
	if s.in != "path" {
		return
	}
	for _, id := range malformed(base.ids[s.name]) {
		name := fmt.Sprintf("%s by %s, %s %s %.40q", o.route, who, s.in, s.name, id)
		if a := r.decided(name, base.with(s, id).raw(token)); a.Status >= 500 || a.Status < 300 && !o.changesNothing() {
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
