package main

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// demoApp is a gateway on an empty folder with the demo data; configure may change its settings.
func demoApp(t *testing.T, configure func(*settings)) (*app, *settings) {
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
	return a, s
}

// areaRoutes are the handlers of every area.
func areaRoutes(a *app, s *settings) wire.Routes {
	all := wire.Routes{}
	for _, routes := range []wire.Routes{a.access.Routes(), a.users.Routes(), a.keys.Routes()} {
		maps.Copy(all, routes)
	}
	for _, area := range s.localAreas(a.core) {
		maps.Copy(all, area.Routes)
	}
	return all
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

// TestNoHandlerWaitsForTheGate: handlers ask while they hold a session or the writer, for
// which those wait who are through the gate. So a gate at which nobody gets through holds
// up none of them.
func TestNoHandlerWaitsForTheGate(t *testing.T) {
	a, s := demoApp(t, func(s *settings) { s.bounds.cold = 0 })
	for a.gates.work.Enter(t.Context()) == nil {
		defer a.gates.work.Leave()
	}
	alice := resources.Principal{
		Kind: resources.PrincipalUser, ID: demoAlice, AccountID: demoAccount, Credential: resources.CredentialToken,
	}
	service := resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Credential: resources.CredentialToken,
		Scopes: []string{resources.ServiceScopeAdmin, resources.ServiceScopeUsers},
	}
	services := []string{"N1", "N2.patch", "N8", "N9"}
	own := []string{"E9", "E10", "E13"}
	routes := areaRoutes(a, s)
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		t.Run(name, func(t *testing.T) {
			user, role, caller := demoBob, "project_reader", alice
			if slices.Contains(own, name) {
				user = demoAlice
			}
			if slices.Contains(services, name) {
				caller = service
			}
			r := &wire.Request{Principal: caller, AccountID: demoAccount, RequestID: "test", Body: []byte(bodies[name]), Params: map[string]string{
				"accountId": demoAccount, "account_id": demoAccount, "projectId": demoProject, "roleId": role, "groupId": "group-absent-v1",
				"userId": user, "user_id": user, "assigneeId": user, "id": "absent-v1", "ruleId": "absent-v1",
			}}
			if name == "N9" {
				r.Query = "external_id=" + demoBob
			}
			_, err := routes[name](t.Context(), r)
			if e := resources.AsError(err); err != nil && (errors.Is(err, gate.ErrFull) || e.Kind == resources.KindBadRequest || e.Kind == resources.KindUnavailable || e.Kind == resources.KindInternal) {
				t.Errorf("%v %v", err, e.Problems)
			}
		})
	}
}
