package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// scene is an account with an admin and a project, of one test alone.
type scene struct {
	*gatewayProcess
	Account, Project string
	Admin            string // external id
	AdminToken       string
	Platform         string // token of a service with platform:admin
	Checker          string // token of a service with authz:check
}

var sceneNumber struct {
	sync.Mutex
	n int
}

// newScene makes an account, its admin and a project through account.create and project.create.
func newScene(t testing.TB, g *gatewayProcess) *scene {
	t.Helper()
	sceneNumber.Lock()
	sceneNumber.n++
	id := fmt.Sprintf("s%d", sceneNumber.n)
	sceneNumber.Unlock()
	return newSceneNamed(t, g, id)
}

// newSceneNamed is newScene with ids that the caller chose.
func newSceneNamed(t testing.TB, g *gatewayProcess, id string) *scene {
	t.Helper()
	s := &scene{
		gatewayProcess: g, Account: "acct-" + id + "-v1", Project: "proj-" + id + "-v1", Admin: "user-" + id + "admin-v1",
		Platform: g.serviceToken(t, "platform:admin"), Checker: g.serviceToken(t, "authz:check"),
	}
	r := call(t, "POST", g.URL+"/api/v1/accounts", s.Platform, fmt.Sprintf(
		`{"id":%q,"name":"Scene %s","admin":{"email":"admin-%s@scene.example","name":"Admin","external_id":%q}}`, s.Account, id, id, s.Admin))
	if r.Status != 201 {
		t.Fatalf("account.create: %d %s", r.Status, r.Raw)
	}
	s.AdminToken = g.userToken(t, s.Admin)
	r = call(t, "POST", s.path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Project %s"}`, s.Project, id))
	if r.Status != 201 {
		t.Fatalf("project.create: %d %s", r.Status, r.Raw)
	}
	return s
}

// path is an URL below the scene's account.
func (s *scene) path(rest string) string { return s.URL + "/api/v1/accounts/" + s.Account + rest }

// ask is authorization.check by a service: may the user do the action at the path below the account?
func (s *scene) ask(t testing.TB, user, action, rest string) reply {
	t.Helper()
	return call(t, "POST", s.URL+"/api/v1/authorize/"+strings.TrimPrefix("accounts/"+s.Account+rest, "/"), s.Checker, "",
		"X-User-ID", user, "X-Account-ID", s.Account, "X-Action", action)
}

// allowed is the verdict of an ask that must be answered.
func (s *scene) allowed(t testing.TB, user, action, rest string) bool {
	t.Helper()
	r := s.ask(t, user, action, rest)
	if r.Status != 200 {
		t.Fatalf("authorization.check: %d %s", r.Status, r.Raw)
	}
	allowed, ok := r.Body["allowed"].(bool)
	if !ok {
		t.Fatalf("authorization.check: no verdict in %s", r.Raw)
	}
	return allowed
}
