package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// apart is a scene whose areas are in a process of their own.
type apart struct {
	*harness.Scene
	areas *harness.Gateway
}

func startApart(t *testing.T, areaArgs ...string) apart {
	t.Helper()
	dir := t.TempDir()
	areas := harness.StartAreas(t, dir, areaArgs...)
	g := harness.StartIn(t, dir, "--role", "gateway", "--upstream", "firewall="+areas.URL, "--upstream", "clusters="+areas.URL)
	return apart{harness.NewScene(t, g), areas}
}

func (a apart) groups() string { return "/projects/" + a.Project + "/security-groups" }

// call is a request by the admin with true claims.
func claim(t testing.TB, s *harness.Scene, method, rest, body string) harness.Reply {
	t.Helper()
	return harness.Call(t, method, s.Path(rest), s.AdminToken, body, "X-Account-ID", s.Account)
}

// makeGroup makes a security group in the scene's project and gives its id.
func makeGroup(t testing.TB, s *harness.Scene, name string) string {
	t.Helper()
	r := claim(t, s, "POST", "/projects/"+s.Project+"/security-groups", fmt.Sprintf(`{"project_id":%q,"name":%q}`, s.Project, name))
	id, _ := harness.At(r.Body, "security_group", "id").(string)
	if r.Status != 201 || id == "" {
		t.Fatalf("security_group.create: %d %s", r.Status, r.Raw)
	}
	return id
}

func TestAreasInAnotherProcess(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	id := makeGroup(t, a.Scene, "web")
	if r := claim(t, a.Scene, "GET", a.groups(), ""); r.Status != 200 || harness.At(r.Body, "security_groups", 0, "id") != id {
		t.Errorf("security_group.list: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "GET", a.Path(a.groups()), a.Checker, "", "X-Account-ID", a.Account); r.Status != 403 {
		t.Errorf("a service without a right: %d %s", r.Status, r.Raw)
	}
	harness.SoonWithin(t, 10*time.Second, "the process with the areas logs who called", func() bool {
		return strings.Contains(a.areas.Stderr.String(), `"principal":"`+a.Admin+`"`)
	})
}

// TestAreasAnswerGatewaysOnly guarantees a refusal of any credential or claim sent to the process
// itself.
func TestAreasAnswerGatewaysOnly(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	makeGroup(t, a.Scene, "web")
	direct := a.areas.URL + "/api/v1/accounts/" + a.Account + a.groups()
	for name, headers := range map[string][]string{
		"nothing":             nil,
		"identity headers":    {"X-User-ID", a.Admin, "X-Account-ID", a.Account, "X-Principal-Kind", "user", "X-Action", "project:security_group:read"},
		"a token":             {"Authorization", "Bearer " + a.AdminToken},
		"a token as the word": {"X-Portcullis-Assertion", a.AdminToken},
	} {
		r := harness.Call(t, "GET", direct, "", "", append(headers, "X-Account-ID", a.Account)...)
		if r.Status != 401 || strings.Contains(string(r.Raw), "web") {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	for _, path := range []string{"/api/v1/authorize/x", "/api/v1/accounts", "/openapi.json", "/.well-known/jwks.json"} {
		if r := harness.Call(t, "GET", a.areas.URL+path, "", ""); r.Status != 404 {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	closing := a.areas.URL + "/internal/v1/areas/firewall/closings/" + a.Account + "/" + a.Project + "/1"
	if r := harness.Call(t, "PUT", closing, a.Platform, ""); r.Status != 401 {
		t.Errorf("closing: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "PUT", a.URL+"/internal/v1/areas/firewall/closings/"+a.Account+"/"+a.Project+"/1", a.Platform, ""); r.Status != 404 {
		t.Errorf("the gateway passes closings on: %d", r.Status)
	}
}

func TestDeletingAProjectAsksTheAreas(t *testing.T) {
	t.Parallel()
	a := startApart(t)
	id := makeGroup(t, a.Scene, "web")
	project := "/projects/" + a.Project
	if r := a.Do(t, "DELETE", project, ""); r.Status != 409 {
		t.Fatalf("occupied: %d %s", r.Status, r.Raw)
	}
	more := makeGroup(t, a.Scene, "kept after all") // the project is as it was
	for _, group := range []string{id, more} {
		if r := claim(t, a.Scene, "DELETE", a.groups()+"/"+group, ""); r.Status != 200 {
			t.Fatalf("security_group_rule.create: %d %s", r.Status, r.Raw)
		}
	}
	a.Must(t, 200, "DELETE", project, "")
	if r := claim(t, a.Scene, "GET", a.groups(), ""); r.Status != 403 {
		t.Errorf("after: %d %s", r.Status, r.Raw)
	}
}

// TestProjectIsKeptWhileAnAreaIsDown: 503, the project as it was, and everything works
// again when the area is back.
func TestProjectIsKeptWhileAnAreaIsDown(t *testing.T) {
	t.Parallel()
	listen := []string{"--listen", servers.Address(t)}
	a := startApart(t, listen...)
	a.areas.Kill(t)
	started := time.Now()
	for _, c := range []struct{ method, rest, body string }{
		{"DELETE", "/projects/" + a.Project, ""},
		{"GET", a.groups(), ""},
		{"POST", a.groups(), fmt.Sprintf(`{"project_id":%q,"name":"x"}`, a.Project)},
	} {
		r := claim(t, a.Scene, c.method, c.rest, c.body)
		if r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %s", c.method, r.Status, r.Raw, r.Header.Get("Retry-After"))
		}
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("three answers took %s", took)
	}
	if !a.Allowed(t, a.Admin, "project:security_group:create", "/projects/"+a.Project+"/security-groups") {
		t.Error("the project is not as it was")
	}
	if r := a.Do(t, "GET", "/projects", ""); harness.At(r.Body, "projects", 0, "id") != a.Project {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	harness.StartAreasIn(t, a.areas.DataDir, a.DataDir, listen...)
	makeGroup(t, a.Scene, "back")
}

// TestAnotherMasterKeyIsNoWord guarantees that the caller gets no advice to sign in again, and the
// operator learns the problem.
func TestAnotherMasterKeyIsNoWord(t *testing.T) {
	t.Parallel()
	areas := harness.StartAreas(t, t.TempDir())
	s := harness.NewScene(t, harness.Start(t, "--role", "gateway", "--upstream", "firewall="+areas.URL, "--upstream", "clusters="+areas.URL))
	r := claim(t, s, "GET", "/projects/"+s.Project+"/security-groups", "")
	if r.Status != 503 || r.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	harness.SoonWithin(t, 10*time.Second, "the log says what is wrong", func() bool {
		return strings.Contains(s.Stderr.String(), "same master key")
	})
}

func TestAssertionKeysArePublished(t *testing.T) {
	t.Parallel()
	r := harness.Call(t, http.MethodGet, harness.Shared(t).HealthURL+"/assertions/jwks.json", "", "")
	if r.Status != 200 || harness.At(r.Body, "keys", 0, "alg") != "EdDSA" || harness.At(r.Body, "keys", 0, "d") != nil {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if shared := harness.Call(t, http.MethodGet, harness.Shared(t).URL+"/.well-known/jwks.json", "", ""); harness.At(shared.Body, "keys", 0, "kid") == harness.At(r.Body, "keys", 0, "kid") {
		t.Error("assertions are signed with the key of access tokens")
	}
}
