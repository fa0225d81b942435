package main

import (
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// serveSettings are the settings of serve, with the flags that set them.
func serveSettings() (*config.Config, *pflag.FlagSet) {
	settings, flags := &config.Config{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	settings.AddFlags(flags)
	return settings, flags
}

// demoApp is a gateway on an empty folder with the demo data; configure may change its settings. It uses the store through
// those around it.
func demoApp(t *testing.T, configure func(*config.Config), around ...func(store.Store) store.Store) (*app, wire.Routes) {
	t.Helper()
	settings, _ := serveSettings()
	settings.Store.DataDir, settings.Demo = t.TempDir(), true
	configure(settings)
	if err := refuse(settings.Validate()); err != nil {
		t.Fatal(err)
	}
	log := observe.NewLog(io.Discard, observe.FormatJSON, slog.LevelError)
	t.Cleanup(log.Close)
	a, err := assemble(t.Context(), settings, log, around...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.store.Close() })
	if _, err := makeDemo(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	all := wire.Routes{}
	for _, routes := range []wire.Routes{a.access.Routes(), a.users.Routes(), a.keys.Routes()} {
		maps.Copy(all, routes)
	}
	for _, area := range a.localAreas() {
		maps.Copy(all, area.Routes)
	}
	return a, all
}

// bodies are what the routes are asked with that need a body to get as far as policy.
var bodies = map[string]string{
	"security_group.create": `{"name":"g","project_id":"proj-demo-v1"}`, "role_assignment.put": `{"projectId":"proj-demo-v1"}`, "user.update": `{"name":"n"}`, "user_profile.update": `{"name":"n"}`,
	"user.invite": `{"email":"new@demo.example"}`, "api_key.create": `{"key_name":"k","scopes":["read"]}`,
	"kubernetes_cluster.create": `{"name":"c","flavor_id":"f","image_id":"i"}`, "gpu_cluster.create": `{"cluster_name":"c","flavor_id":"f","image_id":"i"}`,
	"account.create": `{"name":"n","admin":{"email":"first@other.example"}}`, "account.update": `{"name":"n"}`, "project.create": `{"name":"n"}`, "project.update": `{"name":"n"}`,
	"role.create": `{"name":"n","scope":"ACCOUNT","permissions":["project:*:*"]}`, "role.replace": `{"name":"n","permissions":["project:*:*"]}`,
	"cluster_claim.create": `{}`, "cluster_claim.update": `{}`, "group.create": `{"name":"n"}`, "agent.create": `{"name":"n"}`, "agent.update": `{"name":"n"}`, "delegation.put": `{"permissions":["project:*:read"]}`, "approval.update": `{"status":"DENIED"}`, "user.create": `{"email":"other@demo.example"}`,
	"security_group.update": `{"name":"n"}`, "security_group_rule.create": `{"direction":"ingress","protocol":"tcp"}`,
}

// forServices says which handlers are a service's alone.
func forServices(route string) bool {
	return slices.Contains([]string{"account.create", "account.update", "user.create", "user.find", "cluster_claim.create", "cluster_claim.update"}, route)
}

// requestOf is a well-formed request for the route; it is about bob, or where it can be
// about nobody else, about the caller.
func requestOf(route string, caller resources.Principal) *wire.Request {
	user := demo.Bob
	if slices.Contains([]string{"user_profile.update", "user_profile.get", "api_key.create", "delegation.put", "approval.list", "approval.get", "approval.update"}, route) {
		user = caller.ID
	}
	r := &wire.Request{Principal: caller, AccountID: demo.Account, RequestID: "test", Body: []byte(bodies[route]), Params: map[string]string{
		"accountId": demo.Account, "account_id": demo.Account, "projectId": demo.Project, "roleId": "project_reader", "groupId": "group-absent-v1", "agentId": "agent-absent-v1", "approvalId": "approval-absent-v1",
		"claimId": "absent-v1", "userId": user, "user_id": user, "assigneeId": user, "id": "absent-v1", "ruleId": "absent-v1",
	}}
	switch route {
	case "role.replace", "role.delete": // a system role is refused to everybody
		r.Params["roleId"] = "role-absent-v1"
	case "user.find":
		r.Query = "external_id=" + demo.Bob
	}
	return r
}

// signedIn is a user of the demo account who came with a token.
func signedIn(id string) resources.Principal {
	return resources.Principal{Kind: resources.PrincipalUser, ID: id, AccountID: demo.Account, Credential: resources.CredentialToken}
}

// aService has the scopes of a service that makes accounts and users.
func aService() resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Credential: resources.CredentialToken,
		Scopes: []string{resources.ServiceScopeAdmin, resources.ServiceScopeUsers},
	}
}
