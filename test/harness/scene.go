package harness

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Scene is an account with an admin and a project, of one test alone.
type Scene struct {
	*Gateway
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

// NewScene makes an account, its admin and a project through account.create and project.create.
func NewScene(t testing.TB, g *Gateway) *Scene {
	t.Helper()
	sceneNumber.Lock()
	sceneNumber.n++
	id := fmt.Sprintf("s%d", sceneNumber.n)
	sceneNumber.Unlock()
	return newSceneNamed(t, g, id)
}

// newSceneNamed is NewScene with ids that the caller chose.
func newSceneNamed(t testing.TB, g *Gateway, id string) *Scene {
	t.Helper()
	s := &Scene{
		Gateway: g, Account: "acct-" + id + "-v1", Project: "proj-" + id + "-v1", Admin: "user-" + id + "admin-v1",
		Platform: g.ServiceToken(t, "platform:admin"), Checker: g.ServiceToken(t, "authz:check"),
	}
	r := Call(t, "POST", g.URL+"/api/v1/accounts", s.Platform, fmt.Sprintf(
		`{"id":%q,"name":"Scene %s","admin":{"email":"admin-%s@scene.example","name":"Admin","external_id":%q}}`, s.Account, id, id, s.Admin))
	if r.Status != 201 {
		t.Fatalf("account.create: %d %s", r.Status, r.Raw)
	}
	s.AdminToken = g.UserToken(t, s.Admin)
	r = Call(t, "POST", s.Path("/projects"), s.Platform, fmt.Sprintf(`{"id":%q,"name":"Project %s"}`, s.Project, id))
	if r.Status != 201 {
		t.Fatalf("project.create: %d %s", r.Status, r.Raw)
	}
	return s
}

// Path is an URL below the scene's account.
func (s *Scene) Path(rest string) string { return s.URL + "/api/v1/accounts/" + s.Account + rest }

// Ask is authorization.check by a service: may the user do the action at the path below the account?
func (s *Scene) Ask(t testing.TB, user, action, rest string) Reply {
	t.Helper()
	return Call(t, "POST", s.URL+"/api/v1/authorize/"+strings.TrimPrefix("accounts/"+s.Account+rest, "/"), s.Checker, "",
		"X-User-ID", user, "X-Account-ID", s.Account, "X-Action", action)
}

// Allowed is the verdict of an ask that must be answered.
func (s *Scene) Allowed(t testing.TB, user, action, rest string) bool {
	t.Helper()
	r := s.Ask(t, user, action, rest)
	if r.Status != 200 {
		t.Fatalf("authorization.check: %d %s", r.Status, r.Raw)
	}
	allowed, ok := r.Body["allowed"].(bool)
	if !ok {
		t.Fatalf("authorization.check: no verdict in %s", r.Raw)
	}
	return allowed
}
