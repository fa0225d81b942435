package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/approvals"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// changing is a request for a change; KEY, ROLE, GROUP and PROJECT are ids made by earlier ones.
type changing struct {
	route, body string
	params      map[string]string
	service     bool
	// subject is what its record is about; before and after say which sides it has.
	subject       string
	before, after bool
	// repeat says that the same request once more succeeds and makes no record.
	repeat bool
}

// changingRequests has one of each route that changes accounts, projects, roles, assignments, groups, members, users or
// keys. Each finds what it needs from earlier ones.
func changingRequests() []changing {
	id := func(name, value string) map[string]string { return map[string]string{name: value} }
	return []changing{
		{route: "account.create", body: `{"id":"acct-demo2-v1","name":"n","admin":{"email":"first@other.example"}}`, service: true, subject: "account acct-demo2-v1", after: true},
		{route: "account.update", body: `{"name":"Demo 2"}`, service: true, subject: "account " + demo.Account, before: true, after: true, repeat: true},
		{route: "project.create", body: `{"name":"second"}`, subject: "project PROJECT", after: true},
		{route: "project.update", body: `{"name":"renamed"}`, params: id("projectId", "PROJECT"), subject: "project PROJECT", before: true, after: true, repeat: true},
		{route: "role.create", body: `{"name":"r","scope":"ACCOUNT","permissions":["account:user:read"]}`, subject: "role ROLE", after: true},
		{route: "role.replace", body: `{"name":"r2","permissions":["account:user:read"]}`, params: id("roleId", "ROLE"), subject: "role ROLE", before: true, after: true, repeat: true},
		{route: "role_assignment.put", body: `{}`, params: map[string]string{"roleId": "ROLE", "assigneeId": demo.Carol}, subject: "role_assignment " + demo.Carol, after: true, repeat: true},
		{route: "role_assignment.revoke", params: map[string]string{"roleId": "ROLE", "assigneeId": demo.Carol}, subject: "role_assignment " + demo.Carol, before: true},
		{route: "role.delete", params: id("roleId", "ROLE"), subject: "role ROLE", before: true},
		{route: "group.create", body: `{"name":"g"}`, subject: "group GROUP", after: true},
		{route: "group_member.add", params: map[string]string{"groupId": "GROUP", "userId": demo.Bob}, subject: "group_member " + demo.Bob, after: true, repeat: true},
		{route: "group_member.remove", params: map[string]string{"groupId": "GROUP", "userId": demo.Bob}, subject: "group_member " + demo.Bob, before: true},
		{route: "group.delete", params: id("groupId", "GROUP"), subject: "group GROUP", before: true},
		{route: "agent.create", body: `{"name":"a","clients":[{"issuer":"i","client_id":"c"}]}`, subject: "agent AGENT", after: true},
		{route: "agent.update", body: `{"status":"SUSPENDED"}`, params: id("agentId", "AGENT"), subject: "agent AGENT", before: true, after: true, repeat: true},
		{route: "delegation.put", body: `{"permissions":["project:*:read"]}`, params: map[string]string{"userId": demo.Alice, "agentId": "AGENT"}, subject: "delegation " + demo.Alice, after: true, repeat: true},
		{route: "approval.update", body: `{"status":"APPROVED"}`, params: map[string]string{"userId": demo.Alice, "approvalId": "APPROVAL"}, subject: "approval APPROVAL", before: true, after: true},
		{route: "delegation.delete", params: map[string]string{"userId": demo.Alice, "agentId": "AGENT"}, subject: "delegation " + demo.Alice, before: true},
		{route: "agent.delete", params: id("agentId", "AGENT"), subject: "agent AGENT", before: true},
		{route: "user.create", body: `{"email":"made@demo.example","external_id":"user-made-v1","account_id":"` + demo.Account + `"}`, service: true, subject: "user user-made-v1", after: true},
		{route: "user.update", body: `{"name":"Bobby"}`, params: id("user_id", demo.Bob), subject: "user " + demo.Bob, before: true, after: true, repeat: true},
		{route: "user_profile.update", body: `{"name":"Alice 2"}`, params: id("user_id", demo.Alice), subject: "user " + demo.Alice, before: true, after: true, repeat: true},
		{route: "user.invite", body: `{"email":"invited@demo.example"}`, subject: "user USER", after: true, repeat: true},
		{route: "api_key.create", body: `{"key_name":"k","scopes":["read"]}`, params: id("user_id", demo.Alice), subject: "api_key KEY", after: true},
		{route: "api_key.revoke", params: map[string]string{"user_id": demo.Alice, "id": "KEY"}, subject: "api_key KEY", before: true, after: true, repeat: true},
		{route: "user.remove", params: id("userId", "user-made-v1"), subject: "user user-made-v1", before: true},
		{route: "project.delete", params: id("projectId", "PROJECT"), subject: "project PROJECT", before: true},
	}
}

// mailOnly are routes with a write, but without an effect on any answer.
var mailOnly = []string{"user.resend_invitation"}

// TestEveryChangeLeavesItsRecord guarantees exactly one record for each changing route of the catalogue. A route
// without a row here fails.
func TestEveryChangeLeavesItsRecord(t *testing.T) {
	a, routes := demoApp(t, func(*config.Config) {})
	a.makeOtherAdmin(t)
	routes = changes.Attributed(routes)
	made := map[string]string{"APPROVAL": a.makeApproval(t)}
	rows := map[string]bool{}
	for _, c := range changingRequests() {
		rows[c.route] = true
		t.Run(c.route, func(t *testing.T) {
			before := a.changesNow(t)
			answer, err := routes[c.route](t.Context(), c.request(made))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			now := a.changesNow(t)
			if len(now) != len(before)+1 {
				t.Fatalf("%d records", len(now)-len(before))
			}
			c.verify(t, newest(before, now), string(raw), made)
			again, err := routes[c.route](t.Context(), c.request(made))
			if remaining := len(a.changesNow(t)) - len(now); c.repeat && (err != nil || remaining != 0) {
				t.Errorf("repeated: %v %v, %d records", again.Body, err, remaining)
			} else if err != nil && remaining != 0 {
				t.Errorf("refused: %v, %d records", err, remaining)
			}
		})
	}
	for _, row := range a.policy.Routes() {
		inAreas := slices.Contains([]string{config.UpstreamAccess, config.UpstreamUsers, config.UpstreamAPIKeys}, row.Upstream)
		if inAreas && row.Effect == resources.EffectWrite && !rows[row.Name] && !slices.Contains(mailOnly, row.Name) {
			t.Errorf("no row says which record %s leaves", row.Name)
		}
	}
}

// makeApproval makes a request for an approval of Alice, as the MCP door does, and returns its id.
func (a *app) makeApproval(t *testing.T) string {
	t.Helper()
	service := approvals.Service{Store: a.store, Collections: a.collections, IDs: a.ids}
	made, err := service.Use(t.Context(), resources.Approval{
		AccountID: demo.Account, UserID: demo.Alice, Server: "desk", Place: "desk", Tool: "close", Effect: resources.EffectWrite,
		Arguments: `{"q":"personal-text"}`, Further: `{"f":"personal-text"}`, ArgumentsHash: "sha256:1",
	})
	if err != nil || made.ID == "" {
		t.Fatalf("%+v %v", made, err)
	}
	return made.ID
}

func (c changing) request(made map[string]string) *wire.Request {
	fill := func(s string) string {
		for name, id := range made {
			s = strings.ReplaceAll(s, name, id)
		}
		return s
	}
	caller := signedIn(demo.Alice)
	if c.service {
		caller = aService()
	}
	r := requestOf(c.route, caller)
	r.Body, r.RequestID, r.Query = []byte(c.body), "rid-"+c.route, ""
	for name, value := range c.params {
		r.Params = maps.Clone(r.Params)
		r.Params[name] = fill(value)
	}
	return r
}

// verify holds a record to its row. The subject of what was made is learned from the record, and must
// be in the answer.
func (c changing) verify(t *testing.T, got resources.Change, answer string, made map[string]string) {
	t.Helper()
	kind, id, _ := strings.Cut(c.subject, " ")
	if id == strings.ToUpper(id) && made[id] == "" {
		made[id] = got.Subject.ID
		if !strings.Contains(answer, got.Subject.ID) && id != "USER" {
			t.Errorf("%s is not in the answer %s", got.Subject.ID, answer)
		}
	}
	if name := made[id]; name != "" {
		id = name
	}
	actor := resources.ChangeActor{Kind: "user", ID: demo.Alice, Credential: "token"}
	if c.service {
		actor = resources.ChangeActor{Kind: "service", ID: "service-test", Credential: "token"}
	}
	if got.Subject != (resources.ChangeSubject{Type: kind, ID: id}) || got.Actor != actor || got.RequestID != "rid-"+c.route || got.Action == "" {
		t.Errorf("%+v", got)
	}
	if (got.Before != nil) != c.before || (got.After != nil) != c.after {
		t.Errorf("before %s, after %s", got.Before, got.After)
	}
	for _, secret := range []string{"hash", "pcl_sk_live", "made_with", `"state"`, "personal-text"} {
		if strings.Contains(string(got.Before)+string(got.After), secret) {
			t.Errorf("a record shows %s: %s %s", secret, got.Before, got.After)
		}
	}
}

// newest is the record of now that was not there before.
func newest(before, now []resources.Change) resources.Change {
	for _, c := range now {
		if !slices.ContainsFunc(before, func(b resources.Change) bool { return b.ID == c.ID }) {
			return c
		}
	}
	return resources.Change{}
}

// changesNow are the records of all accounts, in their order.
func (a *app) changesNow(t *testing.T) (out []resources.Change) {
	t.Helper()
	err := a.store.View(t.Context(), func(tx store.Tx) error {
		out = nil
		for _, account := range []string{"acct-demo2-v1", "", demo.Account} {
			recs, err := a.collections.Changes.Find(t.Context(), tx, store.Query{Index: records.ByAccount, Equal: []store.Value{store.String(account)}})
			if err != nil {
				return err
			}
			for _, rec := range recs {
				if rec.Value.RequestID != "" || rec.Value.Actor.Kind != resources.ActorSystem {
					out = append(out, rec.Value)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecordHasWhatWentAlong: a member's roles and keys end with the membership.
func TestRecordHasWhatWentAlong(t *testing.T) {
	a, routes := demoApp(t, func(*config.Config) {})
	routes = changes.Attributed(routes)
	r := requestOf("user.remove", signedIn(demo.Alice))
	r.Params["userId"] = demo.Carol
	if _, err := routes["user.remove"](context.Background(), r); err != nil {
		t.Fatal(err)
	}
	last := newest(nil, a.changesNow(t))
	if last.Action != "account:user:delete" || !strings.Contains(string(last.Before), `"role_assignments":[{"assigneeId":"user-carol-v1"`) ||
		!strings.Contains(string(last.Before), `"email":"carol@demo.example"`) || last.After != nil {
		t.Errorf("%s", fmt.Sprint(last.Action, string(last.Before), string(last.After)))
	}
}
