package attacks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// door says whether an operation answers questions. Its calls name others by right, so that the matrices of
// endpoints do not fit: the path class asks authorization.check, and doorsAboutOthers the rest.
func (o operation) door() bool {
	return strings.HasPrefix(o.route, "authorization.") || strings.HasPrefix(o.route, "authzen.") || strings.HasPrefix(o.route, "forward_auth.")
}

// asked are calls of the doors about a user in a project of an account, by the door.
func asked(account, project, user, token string, lines ...string) map[string]string {
	if token != "" {
		lines = append(lines, bearer(token))
	}
	place := "/api/v1/accounts/" + account + "/roles"
	subject, action := fmt.Sprintf(`"subject":{"type":"user","id":%q}`, user), `"action":{"name":"project:instance:read"}`
	resource := fmt.Sprintf(`"resource":{"type":"project","id":%q,"properties":{"account_id":%q}}`, project, account)
	scope := fmt.Sprintf(`"resource":{"type":"project","properties":{"account_id":%q}}`, account)
	post := func(path, body string) string { return request("POST", "/access/v1/"+path, body, lines...) }
	question := append(slices.Clone(lines), "X-User-ID: "+user, "X-Account-ID: "+account, "X-Action: project:instance:read")
	return map[string]string{
		"explain":         request("POST", "/api/v1/explain/accounts/"+account+"/projects/"+project+"/instances", "", question...),
		"evaluation":      post("evaluation", "{"+subject+","+action+","+resource+"}"),
		"evaluations":     post("evaluations", "{"+subject+","+action+`,"evaluations":[{`+resource+`},{`+resource+"}]}"),
		"search_subject":  post("search/subject", `{"subject":{"type":"user"},`+action+","+resource+"}"),
		"search_resource": post("search/resource", "{"+subject+","+action+","+scope+"}"),
		"search_action":   post("search/action", "{"+subject+","+resource+"}"),
		"forward-auth":    request("GET", "/forward-auth", "", append(slices.Clone(lines), "X-Original-Method: GET", "X-Original-URI: "+place)...),
		"verify":          request("GET", "/verify"+place, "", lines...),
	}
}

// newID is an id that every answer has anew.
var newID = regexp.MustCompile(`[0-9a-hjkmnp-tv-z]{26}`)

// doorsAboutOthers guarantees that no door shows others' permissions, nor their existence.
func doorsAboutOthers(w *attacksWorld, r *refusals) {
	tenant, nobody := w.foreign, [3]string{"acct-absent-v1", "proj-absent-v1", "user-absent-v1"}
	for caller, token := range map[string]string{"admin": w.tenant.adminToken, "member": w.tenant.bobToken, "key": w.tenant.keySecret} {
		absent := asked(nobody[0], nobody[1], nobody[2], token)
		for door, raw := range asked(tenant.account, tenant.project, tenant.admin, token) {
			name := door + " about others by " + caller
			a, b := r.decided(name, raw), r.decided(name+", who are not there", absent[door])
			if door != "evaluations" && a.Status != 403 {
				r.fault("%s: %d %s", name, a.Status, a.Body)
			}
			if strings.Contains(a.Body, "true") || strings.Contains(a.Body, `"results":[{`) || a.Header.Get("X-User-ID") != "" {
				r.fault("%s: %d %s", name, a.Status, a.Body)
			}
			alike := func(body string) string { return newID.ReplaceAllString(body, "ID") }
			for source, target := range map[string]string{tenant.account: nobody[0], tenant.project: nobody[1], tenant.admin: nobody[2]} {
				a.Body = strings.ReplaceAll(a.Body, source, target)
			}
			if a.Status != b.Status || alike(a.Body) != alike(b.Body) {
				r.fault("%s: %d %s\nwhere nobody is: %d %s", name, a.Status, a.Body, b.Status, b.Body)
			}
		}
	}
}

// doorsWithoutCredential: no door answers anybody who shows no credential, or a dead one.
func doorsWithoutCredential(w *attacksWorld, r *refusals, revoked string) {
	tenant := w.tenant
	for title, raw := range map[string]map[string]string{
		"without a credential":  asked(tenant.account, tenant.project, tenant.admin, ""),
		"with a revoked key":    asked(tenant.account, tenant.project, tenant.admin, revoked),
		"with a key's own name": asked(tenant.account, tenant.project, tenant.admin, tenant.key),
		"with an odd token":     asked(tenant.account, tenant.project, tenant.admin, tenant.adminToken+"x"),
		"with claims alone":     asked(tenant.account, tenant.project, tenant.admin, "", "X-User-ID: "+tenant.admin, "X-Account-ID: "+tenant.account, "X-Principal-Kind: user"),
	} {
		for door, raw := range raw {
			r.send(door+" "+title, raw, 401)
		}
	}
}

// doorsAsTheyAre: what was refused to others is answered where it is asked by right.
func doorsAsTheyAre(w *attacksWorld, r *refusals) {
	for door, raw := range asked(w.tenant.account, w.tenant.project, w.tenant.admin, w.tenant.adminToken) {
		a := r.decided(door+" about oneself", raw)
		if a.Status != 200 || strings.Contains(a.Body, "false") {
			r.fault("%s about oneself: %d %s", door, a.Status, a.Body)
		}
	}
}
