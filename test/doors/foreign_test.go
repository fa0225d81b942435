package doors_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// tenant has the ids that a question may name: an account's, or nobody's.
type tenant struct{ account, project, user string }

// absent returns ids as long as those of the tenant, of nothing.
func (o tenant) absent() tenant {
	nobodys := func(id string) string {
		kind, rest, _ := strings.Cut(id, "-")
		return kind + "-" + strings.Repeat("x", len(rest)-len("-v1")) + "-v1"
	}
	return tenant{nobodys(o.account), nobodys(o.project), nobodys(o.user)}
}

// naming is a question of one tenant's caller that names ids of another one.
type naming struct {
	caller          caller
	tenant, foreign tenant
}

// inquiry asks in one way, and returns all that is answered.
type inquiry struct {
	name string
	ask  func(t *testing.T, w *doorsWorld, a naming) string
}

// ticket is an app that answers with all it sees of the subject and the account.
const ticket = `package apps.ticket

types := {"ticket"}

decision := {"decision": input.facts.status == "ACTIVE", "context": {"saw": [
	input.facts.account, input.facts.status, input.facts.member, count(input.facts.assignments), count(input.facts.roles),
]}}
`

// newToldWorld starts a gateway with three tenants; the third is suspended.
func newToldWorld(t *testing.T) (*doorsWorld, []*harness.Team) {
	t.Helper()
	dir := policies(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, "apps", "ticket"), 0o700))
	harness.WriteFile(t, filepath.Join(dir, "apps", "ticket", "ticket.rego"), ticket)
	teams, envoys, _ := startTeams(t, dir)
	for i, team := range teams {
		team.Grant(t, "project_admin", team.Bob, team.Project)
		if i == 2 {
			harness.Call(t, "PATCH", team.Path(""), team.Platform, `{"status":"SUSPENDED"}`)
		}
	}
	return &doorsWorld{Gateway: teams[0].Gateway, envoys: envoys}, teams
}

// strangers are the callers of a team, and who may ask about nobody.
func strangers(t *testing.T, team *harness.Team) []caller {
	t.Helper()
	r := harness.Call(t, "POST", team.Path("/users/"+team.Bob+"/keys"), team.UserToken(t, team.Bob), `{"key_name":"k","scopes":["read"]}`)
	key, _ := harness.At(r.Body, "data", "raw_key").(string)
	return []caller{
		{name: "an admin", user: team.Admin, token: team.AdminToken},
		{name: "a member", user: team.Carol, token: team.UserToken(t, team.Carol)},
		{name: "a key", user: team.Bob, key: key},
		{name: "a service without the scope", user: team.Admin, token: team.Platform},
	}
}

// TestForeignIsToldLikeAbsent guarantees, at every door, one answer for another tenant's account, project or user and
// for an unknown one: byte for byte without ids and times. Members and services see an account's revisions.
func TestForeignIsToldLikeAbsent(t *testing.T) {
	w, teams := newToldWorld(t)
	home := tenant{teams[0].Account, teams[0].Project, teams[0].Admin}
	callers := strangers(t, teams[0])
	differ := 0
	for _, foreign := range teams[1:] {
		strange := tenant{foreign.Account, foreign.Project, foreign.Bob}
		for _, inquiry := range inquiries() {
			for _, caller := range callers {
				text, untold := inquiry.ask(t, w, naming{caller, home, strange}), inquiry.ask(t, w, naming{caller, home, strange.absent()})
				if alike(text, strange) == alike(untold, strange.absent()) {
					continue
				}
				if differ++; differ <= 10 {
					t.Errorf("%s, by %s about %s:\n%s\nand about nobody:\n%s", inquiry.name, caller.name, foreign.Account, text, untold)
				}
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d answers differ", differ)
	}
}

// TestRevisionsAreToldToThoseConcerned: a service and a member learn the account's revision, at each door alike.
func TestRevisionsAreToldToThoseConcerned(t *testing.T) {
	w, teams := newToldWorld(t)
	team := teams[1]
	home := tenant{team.Account, team.Project, team.Admin}
	for _, c := range []caller{{name: "a member", user: team.Admin, token: team.AdminToken}, {name: "a service", user: team.Admin, token: team.ServiceToken(t, "authz:check", "authz:explain")}} {
		seen := map[string]bool{}
		for _, inquiry := range inquiries() {
			for _, revision := range revisions.FindAllStringSubmatch(inquiry.ask(t, w, naming{c, home, home}), -1) {
				seen[revision[1]] = true
			}
		}
		if len(seen) != 1 || seen["0"] {
			t.Errorf("%s is told the revisions %q", c.name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// revisions finds the revisions of accounts in an answer.
var revisions = regexp.MustCompile(`(?:X-Account-Revision: \[|"account_revision":"?)([0-9]+)`)

// newEachTime finds what every answer has anew.
var newEachTime = regexp.MustCompile(`[0-9a-hjkmnp-tv-z]{26}|"decided_at":"[^"]*"|\n(Date|X-Request-Id): [^\n]*`)

// alike replaces what may differ.
func alike(answer string, named tenant) string {
	answer = strings.NewReplacer(named.account, "ACCOUNT", named.project, "PROJECT", named.user, "USER").Replace(answer)
	return newEachTime.ReplaceAllString(answer, "NEW")
}

// inquiries are all ways to ask, with all places for an id.
func inquiries() (all []inquiry) {
	for name, form := range forms() {
		for door, ask := range map[string]func(t *testing.T, w *doorsWorld, q question) string{
			"E3": wholeE3("authorize"), "explain": wholeE3("explain"), "evaluation": wholeEvaluation, "batch": wholeBatch,
			"forward-auth": wholeForwardAuth, "verify": wholeVerify, "ext_authz": wholeEnvoy,
		} {
			for _, action := range []string{"project:instance:read", "account:role:read"} {
				all = append(all, inquiry{door + ", " + name + ", " + action, func(t *testing.T, w *doorsWorld, a naming) string {
					q := form(a)
					q.caller, q.action = a.caller, action
					return ask(t, w, q)
				}})
			}
		}
	}
	for name, form := range entities() {
		for _, path := range []string{"evaluation", "evaluations", "search/subject", "search/resource", "search/action"} {
			all = append(all, inquiry{path + ", " + name, func(t *testing.T, w *doorsWorld, a naming) string {
				return w.whole(t, a.caller, http.MethodPost, "", "/access/v1/"+path, bodyOf(path, form(a)), "Content-Type", "application/json")
			}})
		}
	}
	slices.SortFunc(all, func(a, b inquiry) int { return strings.Compare(a.name, b.name) })
	return all
}

// forms are questions in the words of E3.
func forms() map[string]func(a naming) question {
	place := func(t tenant) string { return "accounts/" + t.account + "/projects/" + t.project + "/instances" }
	return map[string]func(a naming) question{
		"oneself in their account": func(a naming) question {
			return question{subject: a.caller.user, account: a.foreign.account, path: place(a.foreign)}
		},
		"oneself in their account at large": func(a naming) question {
			return question{subject: a.caller.user, account: a.foreign.account, path: "accounts/" + a.foreign.account}
		},
		"oneself in their account, no path": func(a naming) question {
			return question{subject: a.caller.user, account: a.foreign.account, path: "x"}
		},
		"oneself at their project": func(a naming) question {
			return question{subject: a.caller.user, account: a.tenant.account, path: "accounts/" + a.tenant.account + "/projects/" + a.foreign.project + "/instances"}
		},
		"oneself at their project, of no account": func(a naming) question {
			return question{subject: a.caller.user, account: a.tenant.account, path: "projects/" + a.foreign.project}
		},
		"oneself at their place": func(a naming) question {
			return question{subject: a.caller.user, account: a.tenant.account, path: place(a.foreign)}
		},
		"their user there": func(a naming) question {
			return question{subject: a.foreign.user, account: a.foreign.account, path: place(a.foreign)}
		},
		"their user here": func(a naming) question {
			return question{subject: a.foreign.user, account: a.tenant.account, path: place(a.tenant)}
		},
		"their user, our project there": func(a naming) question {
			return question{subject: a.foreign.user, account: a.foreign.account, path: "projects/" + a.tenant.project}
		},
	}
}

// entities are questions of AuthZEN that name accounts in other ways, or none.
func entities() map[string]func(a naming) map[string]any {
	all := map[string]func(a naming) map[string]any{}
	for kind, resource := range map[string]func(t tenant) map[string]any{
		"account": func(t tenant) map[string]any { return map[string]any{"type": "account", "id": t.account} },
		"project": func(t tenant) map[string]any { return map[string]any{"type": "project", "id": t.project} },
		"a project's": func(t tenant) map[string]any {
			return map[string]any{"type": "kubernetes_cluster", "id": "c-1", "properties": map[string]any{"project_id": t.project}}
		},
		"path": func(t tenant) map[string]any {
			return map[string]any{"type": "path", "id": "accounts/" + t.account + "/projects/" + t.project}
		},
		"route": func(t tenant) map[string]any {
			return map[string]any{"type": "route", "id": "/api/v1/accounts/" + t.account + "/roles"}
		},
		"app": func(tenant) map[string]any { return map[string]any{"type": "ticket", "id": "t-1"} },
	} {
		for caller, subject := range map[string]func(a naming) string{"oneself": func(a naming) string { return a.caller.user }, "their user": func(a naming) string { return a.foreign.user }} {
			for where, offset := range map[string]func(a naming) tenant{"here": func(a naming) tenant { return a.tenant }, "there": func(a naming) tenant { return a.foreign }} {
				for named, context := range map[string]func(a naming) any{
					"": func(naming) any { return map[string]any{} }, ", ours named": func(a naming) any { return map[string]any{"account_id": a.tenant.account} },
					", theirs named": func(a naming) any { return map[string]any{"account_id": a.foreign.account} },
				} {
					all[kind+" "+where+" for "+caller+named] = func(a naming) map[string]any {
						return map[string]any{"subject": map[string]any{"type": "user", "id": subject(a)}, "resource": resource(offset(a)), "context": context(a)}
					}
				}
			}
		}
	}
	return all
}

// bodyOf is the question as the path takes it.
func bodyOf(path string, q map[string]any) string {
	action := map[string]any{"name": "project:instance:read"}
	if kind := q["resource"].(map[string]any)["type"]; kind == "route" {
		action["name"] = "GET"
	}
	if path != "search/action" {
		q["action"] = action
	}
	if path == "evaluations" {
		q = map[string]any{"evaluations": []any{q, q}}
	}
	text, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// whole makes a call and returns status, headers and body.
func (w *doorsWorld) whole(t *testing.T, c caller, method, host, target, body string, headers ...string) string {
	status, header, raw := w.exchange(t, c, method, host, target, body, headers...)
	var all strings.Builder
	fmt.Fprintf(&all, "%d\n", status)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fmt.Fprintf(&all, "%s: %q\n", name, header[name])
	}
	return strings.ReplaceAll(all.String(), `"`, "") + string(raw)
}

func wholeE3(door string) func(t *testing.T, w *doorsWorld, q question) string {
	return func(t *testing.T, w *doorsWorld, q question) string {
		return w.whole(t, q.caller, http.MethodPost, "", "/api/v1/"+door+"/"+q.path, "", "X-User-ID", q.subject, "X-Account-ID", q.account, "X-Action", q.action)
	}
}

func wholeEvaluation(t *testing.T, w *doorsWorld, q question) string {
	body, _ := json.Marshal(q.evaluation())
	return w.whole(t, q.caller, http.MethodPost, "", "/access/v1/evaluation", string(body), "Content-Type", "application/json")
}

func wholeBatch(t *testing.T, w *doorsWorld, q question) string {
	body, _ := json.Marshal(map[string]any{"evaluations": []any{q.evaluation(), q.evaluation()}})
	return w.whole(t, q.caller, http.MethodPost, "", "/access/v1/evaluations", string(body), "Content-Type", "application/json")
}

func wholeForwardAuth(t *testing.T, w *doorsWorld, q question) string {
	return w.whole(t, q.caller, "GET", "", "/forward-auth", "", "X-Original-Method", method, "X-Original-URI", "/"+q.path, "X-Forwarded-Host", hostOf(q.action))
}

func wholeVerify(t *testing.T, w *doorsWorld, q question) string {
	return w.whole(t, q.caller, method, hostOf(q.action), "/verify/"+q.path, "")
}

func wholeEnvoy(t *testing.T, w *doorsWorld, q question) string {
	call := &auth.AttributeContext_HttpRequest{Host: hostOf(q.action), Method: method, Path: "/" + q.path, Headers: map[string]string{}}
	if q.caller.token != "" {
		call.Headers["authorization"] = "Bearer " + q.caller.token
	}
	if q.caller.key != "" {
		call.Headers["x-api-key"] = q.caller.key
	}
	text, err := protojson.Marshal(w.ask(t, call, nil))
	var all any
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil {
		text, err = json.Marshal(all) // in one order
	}
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
