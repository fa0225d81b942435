package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// wall is a caller with the security groups of one project in view.
type wall struct {
	*harness.Team
	Project, Token string
}

// newWall is the account's admin in the project of a new team.
func newWall(t testing.TB) *wall {
	t.Helper()
	s := harness.NewTeam(t)
	return &wall{Team: s, Project: s.Project, Token: s.AdminToken}
}

// as is another caller in the same place, elsewhere the same caller in another one.
func (w wall) as(token string) *wall          { w.Token = token; return &w }
func (w wall) elsewhere(project string) *wall { w.Project = project; return &w }

// url is that of the project's groups.
func (w *wall) url(rest string) string {
	return w.Path("/projects/" + w.Project + "/security-groups" + rest)
}

// do is a request about the project's groups whose claims are true.
func (w *wall) do(t testing.TB, method, rest, body string, headers ...string) harness.Reply {
	t.Helper()
	return harness.Call(t, method, w.url(rest), w.Token, body, append(headers, "x-account-id", w.Account)...)
}

// must is do that has to have this status.
func (w *wall) must(t testing.TB, status int, method, rest, body string, headers ...string) harness.Reply {
	t.Helper()
	r := w.do(t, method, rest, body, headers...)
	if r.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", method, rest, r.Status, r.Raw, status)
	}
	return r
}

// draft is security_group.create's body with further fields, which begin with a comma.
func (w *wall) draft(name, more string) string {
	return fmt.Sprintf(`{"project_id":%q,"name":%q%s}`, w.Project, name, more)
}

// made is the id of a new group; its rules are written as JSON objects.
func (w *wall) made(t testing.TB, name string, rules ...string) string {
	t.Helper()
	r := w.must(t, 201, "POST", "", w.draft(name, `,"rules":[`+strings.Join(rules, ",")+`]`))
	id, _ := harness.At(r.Body, "security_group", "id").(string)
	return id
}

// groups are the names of the groups in a list.
func groupsIn(r harness.Reply) string {
	return strings.Join(harness.Texts(r.Body["security_groups"], "name"), " ")
}

// onPort is a rule with this port; more adds fields.
func onPort(port int, more string) string {
	return fmt.Sprintf(`{"direction":"ingress","protocol":"tcp","port_range_min":%d,"port_range_max":%d%s}`, port, port, more)
}

// namesGroup is what a rule says of another group.
func namesGroup(id string) string { return fmt.Sprintf(`,"remote_security_group_id":%q`, id) }

// wantWallRefusal compares an answer with a status and the error body of the firewall. Its details,
// if any are given, must name exactly these fields.
func wantWallRefusal(t testing.TB, name string, r harness.Reply, status int, code string, wrong ...string) {
	t.Helper()
	message, _ := r.Body["error"].(string)
	names := slices.Sorted(maps.Keys(r.Body))
	_, detailed := r.Body["details"]
	details, isObject := r.Body["details"].(map[string]any)
	if r.Status != status || r.Body["code"] != code || message == "" || detailed && !isObject || len(names) > 3 || len(names) == 3 != detailed {
		t.Errorf("%s: %d %s, want %d %s", name, r.Status, r.Raw, status, code)
	}
	for field, problem := range details {
		if text, _ := problem.(string); text == "" || field == "" {
			t.Errorf("%s: a detail that says nothing: %s", name, r.Raw)
		}
	}
	slices.Sort(wrong)
	if got := slices.Sorted(maps.Keys(details)); wrong != nil && !slices.Equal(got, wrong) {
		t.Errorf("%s: the details name %q, want %q: %s", name, got, wrong, r.Raw)
	}
	if r.Header.Get("X-Request-ID") == "" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: headers %v", name, r.Header)
	}
	if (status == http.StatusUnauthorized) != (r.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("%s: %d with WWW-Authenticate %q", name, status, r.Header.Get("WWW-Authenticate"))
	}
	var object map[string]any
	if err := json.Unmarshal(r.Raw, &object); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
