package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// apart is a scene whose areas are in a process of their own.
type apart struct {
	*scene
	areas *gatewayProcess
}

func startApart(t *testing.T, areaArgs ...string) apart {
	t.Helper()
	dir := t.TempDir()
	areas := startAreas(t, dir, areaArgs...)
	g := startGatewayIn(t, dir, "--role", "gateway", "--upstream", "firewall="+areas.URL, "--upstream", "clusters="+areas.URL)
	return apart{newScene(t, g), areas}
}

func (a apart) groups() string { return "/projects/" + a.Project + "/security-groups" }

// call is a request by the admin with true claims.
func (s *scene) claim(t testing.TB, method, rest, body string) reply {
	t.Helper()
	return call(t, method, s.path(rest), s.AdminToken, body, "X-Account-ID", s.Account)
}

// makeGroup makes a security group in the scene's project and gives its id.
func (s *scene) makeGroup(t testing.TB, name string) string {
	t.Helper()
	r := s.claim(t, "POST", "/projects/"+s.Project+"/security-groups", fmt.Sprintf(`{"project_id":%q,"name":%q}`, s.Project, name))
	id, _ := at(r.Body, "security_group", "id").(string)
	if r.Status != 201 || id == "" {
		t.Fatalf("security_group.create: %d %s", r.Status, r.Raw)
	}
	return id
}

func TestAreasInAnotherProcess(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	id := a.makeGroup(t, "web")
	if r := a.claim(t, "GET", a.groups(), ""); r.Status != 200 || at(r.Body, "security_groups", 0, "id") != id {
		t.Errorf("security_group.list: %d %s", r.Status, r.Raw)
	}
	if r := call(t, "GET", a.path(a.groups()), a.Checker, "", "X-Account-ID", a.Account); r.Status != 403 {
		t.Errorf("a service without a right: %d %s", r.Status, r.Raw)
	}
	eventually(t, 10*time.Second, "the process with the areas logs who called", func() bool {
		return strings.Contains(a.areas.stderr.String(), `"principal":"`+a.Admin+`"`)
	})
}

// TestAreasAnswerGatewaysOnly: whatever credential or claim comes to the process itself.
func TestAreasAnswerGatewaysOnly(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	a.makeGroup(t, "web")
	direct := a.areas.URL + "/api/v1/accounts/" + a.Account + a.groups()
	for name, headers := range map[string][]string{
		"nothing":             nil,
		"identity headers":    {"X-User-ID", a.Admin, "X-Account-ID", a.Account, "X-Principal-Kind", "user", "X-Action", "project:security_group:read"},
		"a token":             {"Authorization", "Bearer " + a.AdminToken},
		"a token as the word": {"X-Portcullis-Assertion", a.AdminToken},
	} {
		r := call(t, "GET", direct, "", "", append(headers, "X-Account-ID", a.Account)...)
		if r.Status != 401 || strings.Contains(string(r.Raw), "web") {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	for _, path := range []string{"/api/v1/authorize/x", "/api/v1/accounts", "/openapi.json", "/.well-known/jwks.json"} {
		if r := call(t, "GET", a.areas.URL+path, "", ""); r.Status != 404 {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	closing := a.areas.URL + "/internal/v1/areas/firewall/closings/" + a.Account + "/" + a.Project + "/1"
	if r := call(t, "PUT", closing, a.Platform, ""); r.Status != 401 {
		t.Errorf("closing: %d %s", r.Status, r.Raw)
	}
	if r := call(t, "PUT", a.URL+"/internal/v1/areas/firewall/closings/"+a.Account+"/"+a.Project+"/1", a.Platform, ""); r.Status != 404 {
		t.Errorf("the gateway passes closings on: %d", r.Status)
	}
}

func TestDeletingAProjectAsksTheAreas(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	id := a.makeGroup(t, "web")
	project := "/projects/" + a.Project
	if r := a.do(t, "DELETE", project, ""); r.Status != 409 {
		t.Fatalf("occupied: %d %s", r.Status, r.Raw)
	}
	more := a.makeGroup(t, "kept after all") // the project is as it was
	for _, group := range []string{id, more} {
		if r := a.claim(t, "DELETE", a.groups()+"/"+group, ""); r.Status != 200 {
			t.Fatalf("security_group_rule.create: %d %s", r.Status, r.Raw)
		}
	}
	a.must(t, 200, "DELETE", project, "")
	if r := a.claim(t, "GET", a.groups(), ""); r.Status != 403 {
		t.Errorf("after: %d %s", r.Status, r.Raw)
	}
}

// TestProjectIsKeptWhileAnAreaIsDown: 503, the project as it was, and everything works
// again when the area is back.
func TestProjectIsKeptWhileAnAreaIsDown(t *testing.T) {
	t.Parallel()
	listen := []string{"--listen", servers.Address(t)}
	a := startApart(t, listen...)
	a.areas.kill(t)
	started := time.Now()
	for _, c := range []struct{ method, rest, body string }{
		{"DELETE", "/projects/" + a.Project, ""},
		{"GET", a.groups(), ""},
		{"POST", a.groups(), fmt.Sprintf(`{"project_id":%q,"name":"x"}`, a.Project)},
	} {
		r := a.claim(t, c.method, c.rest, c.body)
		if r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %s", c.method, r.Status, r.Raw, r.Header.Get("Retry-After"))
		}
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("three answers took %s", took)
	}
	if !a.allowed(t, a.Admin, "project:security_group:create", "/projects/"+a.Project+"/security-groups") {
		t.Error("the project is not as it was")
	}
	if r := a.do(t, "GET", "/projects", ""); at(r.Body, "projects", 0, "id") != a.Project {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	startAreasIn(t, a.areas.DataDir, a.DataDir, listen...)
	a.makeGroup(t, "back")
}

// TestAnotherMasterKeyIsNoWord: the caller is not told to sign in again, the operator is
// told what is wrong.
func TestAnotherMasterKeyIsNoWord(t *testing.T) {
	t.Parallel()
	areas := startAreas(t, t.TempDir())
	s := newScene(t, startGateway(t, "--role", "gateway", "--upstream", "firewall="+areas.URL, "--upstream", "clusters="+areas.URL))
	r := s.claim(t, "GET", "/projects/"+s.Project+"/security-groups", "")
	if r.Status != 503 || r.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	eventually(t, 10*time.Second, "the log says what is wrong", func() bool {
		return strings.Contains(s.stderr.String(), "same master key")
	})
}

func TestAssertionKeysArePublished(t *testing.T) {
	t.Parallel()
	r := call(t, http.MethodGet, sharedGateway(t).HealthURL+"/assertions/jwks.json", "", "")
	if r.Status != 200 || at(r.Body, "keys", 0, "alg") != "EdDSA" || at(r.Body, "keys", 0, "d") != nil {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if own := call(t, http.MethodGet, sharedGateway(t).URL+"/.well-known/jwks.json", "", ""); at(own.Body, "keys", 0, "kid") == at(r.Body, "keys", 0, "kid") {
		t.Error("assertions are signed with the key of access tokens")
	}
}
