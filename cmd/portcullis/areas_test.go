package main

import (
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// demoApp is a gateway on an empty folder with the demo data; configure may change its settings.
func demoApp(t *testing.T, configure func(*settings)) (*app, wire.Routes) {
	t.Helper()
	s, _ := serveFlagSet()
	s.dataDir = t.TempDir()
	configure(s)
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	log := newLogs(io.Discard, "json", slog.LevelError)
	t.Cleanup(func() { log.queue.close(flushTime) })
	a, err := s.assemble(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.store.Close() })
	if _, err := a.makeDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := wire.Routes{}
	for _, routes := range []wire.Routes{a.access.Routes(), a.users.Routes(), a.keys.Routes()} {
		maps.Copy(all, routes)
	}
	for _, area := range s.localAreas(a.core) {
		maps.Copy(all, area.Routes)
	}
	return a, all
}

// bodies are what the routes are asked with that need a body to get as far as policy.
var bodies = map[string]string{
	"E1": `{"name":"g","project_id":"proj-demo-v1"}`, "E6": `{"projectId":"proj-demo-v1"}`, "E8": `{"name":"n"}`, "E9": `{"name":"n"}`,
	"E11": `{"email":"new@demo.example"}`, "E13": `{"key_name":"k","scopes":["read"]}`,
	"E16": `{"name":"c","flavor_id":"f","image_id":"i"}`, "E18": `{"cluster_name":"c","flavor_id":"f","image_id":"i"}`,
	"N1": `{"name":"n","admin":{"email":"first@other.example"}}`, "N2.patch": `{"name":"n"}`, "N3": `{"name":"n"}`, "N4.patch": `{"name":"n"}`,
	"N5": `{"name":"n","scope":"ACCOUNT","permissions":["project:*:*"]}`, "N6.put": `{"name":"n","permissions":["project:*:*"]}`,
	"N7.create": `{"name":"n"}`, "N8": `{"email":"other@demo.example"}`,
	"N11.patch": `{"name":"n"}`, "N11.rule_create": `{"direction":"ingress","protocol":"tcp"}`,
}

// forServices says which handlers are a service's alone.
func forServices(route string) bool {
	return slices.Contains([]string{"N1", "N2.patch", "N8", "N9"}, route)
}

// requestOf is a well-formed request for the route; it is about bob, or where it can be
// about nobody else, about the caller.
func requestOf(route string, caller resources.Principal) *wire.Request {
	user := demoBob
	if slices.Contains([]string{"E9", "E10", "E13"}, route) {
		user = caller.ID
	}
	r := &wire.Request{Principal: caller, AccountID: demoAccount, RequestID: "test", Body: []byte(bodies[route]), Params: map[string]string{
		"accountId": demoAccount, "account_id": demoAccount, "projectId": demoProject, "roleId": "project_reader", "groupId": "group-absent-v1",
		"userId": user, "user_id": user, "assigneeId": user, "id": "absent-v1", "ruleId": "absent-v1",
	}}
	switch route {
	case "N6.put", "N6.delete": // a system role is refused to everybody
		r.Params["roleId"] = "role-absent-v1"
	case "N9":
		r.Query = "external_id=" + demoBob
	}
	return r
}

// signedIn is a user of the demo account who came with a token.
func signedIn(id string) resources.Principal {
	return resources.Principal{Kind: resources.PrincipalUser, ID: id, AccountID: demoAccount, Credential: resources.CredentialToken}
}

// aService has the scopes of a service that makes accounts and users.
func aService() resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Credential: resources.CredentialToken,
		Scopes: []string{resources.ServiceScopeAdmin, resources.ServiceScopeUsers},
	}
}
