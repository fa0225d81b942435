package attacks_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// pageTokens: one of another account, of another list or filter, forged, cut or huge is 400.
func pageTokens(w *attacksWorld, r *refusals, list []operation) {
	lists := slices.DeleteFunc(slices.Clone(list), func(o operation) bool { return !slices.Contains(o.queries, "page_token") })
	if len(lists) < 5 {
		r.fault("only %d lists have page tokens", len(lists))
	}
	tokens := map[string]string{} // of the other lists, for each
	for _, o := range lists {
		g, _ := w.granted(o)
		g.query["page_size"] = "1"
		if token := w.nextPage(g, w.tenant.adminToken); token != "" {
			tokens[o.route] = token
		}
	}
	if len(tokens) < 3 {
		r.fault("only %d lists are longer than a page", len(tokens))
	}
	for _, o := range lists {
		g, _ := w.granted(o)
		g.query["page_size"] = "1"
		odd := map[string]string{"not base64": "!", "empty JSON": "e30", "a number": "1", "huge": strings.Repeat("A", 20_000), "null": "null", "an operator": `{"$ne":null}`, "NUL": "\x00", "of base64": "AAAA", "a path": "../../x"}
		for other, token := range tokens {
			if other != o.route {
				odd["of "+other] = token
			}
		}
		foreign := g.owned(w.foreign)
		odd["of theirs"] = w.nextPage(foreign, w.foreign.adminToken)
		if self := tokens[o.route]; self != "" {
			for i := 0; i < len(self); i += 3 {
				odd[fmt.Sprintf("changed at %d", i)] = self[:i] + flipped(self[i]) + self[i+1:]
				odd[fmt.Sprintf("cut at %d", i)] = self[:i]
			}
			odd["twice"], odd["with more"], odd["padded"] = self+self, self+"A", self+"=="
		}
		for title, token := range odd {
			if token == "" {
				continue // the first page
			}
			g.query["page_token"] = token
			if len(token) > 10_000 {
				r.refuse(o.route+", page token "+title, g.raw(g.token), 400)
				continue
			}
			if a := r.decided(o.route+", page token "+title, g.raw(g.token)); a.Status != 400 {
				r.fault("%s, page token %s: %d %s", o.route, title, a.Status, a.Body)
			}
		}
		delete(g.query, "page_token")
		if self := tokens[o.route]; self != "" && slices.Contains(o.queries, "status") {
			g.query["page_token"], g.query["status"] = self, "deleted"
			if a := r.decided(o.route+", page token of another filter", g.raw(g.token)); a.Status != 400 {
				r.fault("%s, page token of another filter: %d %s", o.route, a.Status, a.Body)
			}
		}
	}
}

// owned is the same request of the other account.
func (g granting) owned(t *tenant) granting {
	out := g
	out.ids, out.header = map[string]string{}, map[string]string{"X-Account-ID": t.account}
	names := map[string]string{"accountId": t.account, "account_id": t.account, "projectId": t.project, "groupId": t.group, "agentId": t.agent, "userId": t.admin}
	for name, id := range g.ids {
		if out.ids[name] = names[name]; out.ids[name] == "" {
			out.ids[name] = id
		}
	}
	return out
}

// nextPage is the token that the first page gives.
func (w *attacksWorld) nextPage(g granting, token string) string {
	page := w.must(w.t, 200, g.method, g.target(), token, "", "X-Account-ID: "+g.header["X-Account-ID"])
	return text(page, "next_page_token")
}

// idempotencyKeys: the key of another caller, path or body gives nobody the first answer.
func idempotencyKeys(w *attacksWorld, r *refusals) {
	key := "Idempotency-Key: shared-" + word(8)
	body := `{"name":"once"}`
	made := w.tenant.make(201, "POST", "/groups", body, key)
	id := w.wanted(made, "group", "id")
	same := func(name, raw string, want ...int) {
		r.cases++
		a, err := w.decided(raw)
		if err != nil || !slices.Contains(want, a.Status) || strings.Contains(a.Body, id) {
			r.fault("idempotency key, %s: %v %d %s", name, err, a.Status, a.Body)
		}
	}
	same("a member", request("POST", w.tenant.path("/groups"), body, bearer(w.tenant.bobToken), key), 403)
	same("another account's path", request("POST", w.foreign.path("/groups"), body, bearer(w.tenant.adminToken), key), 403)
	same("nobody", request("POST", w.tenant.path("/groups"), body, key), 401)
	same("another body", request("POST", w.tenant.path("/groups"), `{"name":"other"}`, bearer(w.tenant.adminToken), key), 409)
	same("another body of the same value", request("POST", w.tenant.path("/groups"), ` {"name":"once"}`, bearer(w.tenant.adminToken), key), 409)
	same("another path", request("POST", w.tenant.path("/projects"), body, bearer(w.tenant.adminToken), key), 409)
	other := w.must(w.t, 201, "POST", w.foreign.path("/groups"), w.foreign.adminToken, body, key)
	if foreign := w.wanted(other, "group", "id"); foreign == id {
		r.fault("another account's caller got the first answer: %s", foreign)
	} else {
		w.must(w.t, 200, "DELETE", w.foreign.path("/groups/"+foreign), w.foreign.adminToken, "")
	}
	w.tenant.make(200, "DELETE", "/groups/"+id, "")
	for _, odd := range []string{"", " ", "\t", "\u00e9", strings.Repeat("k", 256), "a b", "a\tb"} {
		same(fmt.Sprintf("%q", odd), request("POST", w.tenant.path("/groups"), body, bearer(w.tenant.adminToken), "Idempotency-Key: "+odd), 400)
	}
}

// twoNames are requests whose parts name different things.
func twoNames(w *attacksWorld, r *refusals) {
	tenant, foreign := w.tenant, w.foreign
	admin := bearer(tenant.adminToken)
	for _, other := range []string{tenant.other, foreign.project, "proj-absent-v1"} {
		r.refuse("security_group.create, project "+other+" in the body", request("POST", tenant.path(tenant.sgPath(tenant.project, "")), `{"project_id":"`+other+`","name":"n"}`, admin, "X-Account-ID: "+tenant.account), 400)
		for _, method := range []string{"PUT", "DELETE"} {
			target := tenant.path("/roles/project_reader/assignments/" + tenant.bob)
			r.refuse(method+" of an assignment, project twice in the query", request(method, target+"?projectId="+tenant.project+"&projectId="+other, "", admin), 400)
			r.refuse(method+" of an assignment, projectid", request(method, target+"?projectId="+tenant.project+"&projectid="+other, "", admin), 400)
		}
		r.refuse("role_assignment.put, project "+other+" in the body", request("PUT", tenant.path("/roles/project_reader/assignments/"+tenant.bob+"?projectId="+tenant.project), `{"projectId":"`+other+`"}`, admin), 400)
	}
	for _, account := range []string{foreign.account, "acct-absent-v1", tenant.project, strings.ToUpper(tenant.account)} {
		for _, method := range []string{"GET", "POST"} {
			body := ""
			if method == "POST" {
				body = `{"project_id":"` + tenant.project + `","name":"n"}`
			}
			r.refuse(method+" of security groups, header names "+account, request(method, tenant.path(tenant.sgPath(tenant.project, "")), body, admin, "X-Account-ID: "+account), 401)
			r.refuse(method+" of security groups, path names "+account, request(method, "/api/v1/accounts/"+account+tenant.sgPath(tenant.project, ""), body, admin, "X-Account-ID: "+tenant.account), 401, 400)
		}
	}
	for _, user := range []string{tenant.bob, foreign.admin, "user-absent-v1"} {
		r.refuse("security_group.list, header names "+user, request("GET", tenant.path(tenant.sgPath(tenant.project, "")), "", admin, "X-Account-ID: "+tenant.account, "X-User-ID: "+user), 401)
	}
	for _, email := range []string{foreign.bobEmail, strings.ToUpper(foreign.bobEmail), foreign.adminEmail} { // of another account: no mail, no role
		r.refuse("user.invite of "+email, request("POST", tenant.path("/users/invite"), `{"email":"`+email+`"}`, admin), 409)
	}
	r.refuse("user.find by an admin", request("GET", "/api/v1/users?email="+url.QueryEscape(foreign.bobEmail), "", admin), 403)
}
