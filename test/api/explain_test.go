package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// explanation is what the tests read of an answer of authorization.explain.
type explanation struct {
	Allowed    bool
	Reason     string
	Policy     string `json:"policy_revision"`
	Revision   int64  `json:"account_revision"`
	Conditions []struct {
		Name  string
		Holds bool
	}
	Grants []struct {
		Role   string
		Counts bool
		WhyNot string `json:"why_not"`
	}
	Blocked []struct{ Reason, At string } `json:"blocked_by"`
	Fixes   []struct {
		Steps []struct {
			Kind, Role, Permission string
			Project                string `json:"project_id"`
			Group                  string `json:"group_id"`
			Until                  string
		}
		AlsoAllows int  `json:"also_allows"`
		Affects    *int `json:"affects"`
	}
	Complete bool
}

func whyRaw(t testing.TB, s *harness.Scene, token, user, action, path string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.URL+"/api/v1/explain/"+path, token, "", "X-User-ID", user, "X-Account-ID", s.Account, "X-Action", action)
}

// why asks, and asks authorization.check the same: verdict, reason and revisions are equal.
func why(t testing.TB, s *harness.Scene, token, user, action, path string) explanation {
	t.Helper()
	r, checked := whyRaw(t, s, token, user, action, path), e3(t, s, s.Checker, user, s.Account, action, path)
	var x explanation
	if err := json.Unmarshal(r.Raw, &x); err != nil || r.Status != 200 || r.Header.Get("X-Decision-ID") != "" {
		t.Fatalf("%v %d %s", err, r.Status, r.Raw)
	}
	allowed, reason := verdict(t, checked)
	if x.Allowed != allowed || x.Reason != reason || x.Policy != checked.Header.Get("X-Policy-Revision") || fmt.Sprint(x.Revision) != checked.Header.Get("X-Account-Revision") {
		t.Errorf("%s %s: %s, and the decision is %s %v", user, action, r.Raw, checked.Raw, checked.Header)
	}
	return x
}

func explainer(t testing.TB, s *harness.Scene) string { return s.ServiceToken(t, "authz:explain") }

// put makes an assignment, by the admin.
func put(t testing.TB, s *harness.Scene, role, assignee, body string) {
	t.Helper()
	r := harness.Call(t, "PUT", s.Path("/roles/"+role+"/assignments/"+assignee), s.AdminToken, body)
	if r.Status != 200 {
		t.Fatalf("role_assignment.put: %d %s", r.Status, r.Raw)
	}
}

// TestWhoMayHaveItExplained: a service with the scope, the user in question, and who holds account:authorization:explain
// there. Everybody else gets 403 and no word of it.
func TestWhoMayHaveItExplained(t *testing.T) {
	s := harness.NewTeam(t)
	path := "accounts/" + s.Account + "/projects/" + s.Project + "/instances"
	for name, c := range map[string]struct {
		token, user string
		want        int
	}{
		"200 a service with authz:explain": {explainer(t, s.Scene), s.Bob, 200},
		"200 the user in question":         {s.UserToken(t, s.Bob), s.Bob, 200},
		"200 an admin about another":       {s.AdminToken, s.Bob, 200},
		"200 about nobody":                 {explainer(t, s.Scene), "user-nobody-v1", 200},
		"403 a service with authz:check":   {s.Checker, s.Bob, 403},
		"403 another member":               {s.UserToken(t, s.Carol), s.Bob, 403},
		"401 nobody":                       {"", s.Bob, 401},
	} {
		r := whyRaw(t, s.Scene, c.token, c.user, "project:instance:read", path)
		if r.Status != c.want || (r.Body["fixes"] != nil) != (c.want == 200) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	for name, c := range map[string]struct{ action, path, says string }{
		"400 a malformed action":    {"read", path, "X-Action"},
		"400 an ambiguous path":     {"project:instance:read", "accounts/../x", "path"},
		"400 a query":               {"project:instance:read", path + "?x=1", "path"},
		"400 an action, and a path": {"", "x//y", "X-Action"},
	} {
		r := whyRaw(t, s.Scene, explainer(t, s.Scene), s.Bob, c.action, c.path)
		if r.Status != 400 || !strings.Contains(strings.Join(problems(t, r), "\n"), c.says) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}

// TestFixesOfADenialAllow: each is done by the API, and taken back.
func TestFixesOfADenialAllow(t *testing.T) {
	s := harness.NewTeam(t)
	const action = "project:instance:create"
	path := "accounts/" + s.Account + "/projects/" + s.Project + "/instances"
	role := harness.Call(t, "POST", s.Path("/roles"), s.AdminToken, `{"name":"maker","scope":"PROJECT","permissions":["project:instance:read"]}`)
	id, _ := role.Body["id"].(string)
	put(t, s.Scene, id, s.Bob, fmt.Sprintf(`{"projectId":%q}`, s.Project))
	put(t, s.Scene, id, s.Carol, fmt.Sprintf(`{"projectId":%q}`, s.Project))
	x := why(t, s.Scene, explainer(t, s.Scene), s.Bob, action, path)
	if x.Allowed || len(x.Fixes) != 3 || !x.Complete || len(x.Grants) != 1 || x.Grants[0].WhyNot != "its role lacks the action" {
		t.Fatalf("%+v", x)
	}
	first := x.Fixes[0]
	if len(first.Steps) != 1 || first.Steps[0].Kind != "add_permission" || first.Steps[0].Role != id || first.AlsoAllows != 0 || *first.Affects != 1 {
		t.Errorf("the smallest fix is %+v", first)
	}
	if r := harness.Call(t, "PUT", s.Path("/roles/"+id), s.AdminToken, `{"name":"maker","scope":"PROJECT","permissions":["project:instance:read","`+first.Steps[0].Permission+`"]}`); r.Status != 200 {
		t.Fatalf("role.update: %d %s", r.Status, r.Raw)
	}
	if x := why(t, s.Scene, explainer(t, s.Scene), s.Bob, action, path); !x.Allowed || len(x.Fixes)+len(x.Blocked) > 0 || !x.Grants[0].Counts {
		t.Errorf("after the fix: %+v", x)
	}
	put(t, s.Scene, id, s.Carol, fmt.Sprintf(`{"projectId":%q,"status":"INACTIVE"}`, s.Project))
	x = why(t, s.Scene, explainer(t, s.Scene), s.Carol, action, path)
	if x.Allowed || len(x.Fixes) == 0 || x.Fixes[0].Steps[0].Kind != "activate_assignment" || x.Grants[0].WhyNot != "it is inactive" {
		t.Fatalf("%+v", x)
	}
	put(t, s.Scene, id, s.Carol, fmt.Sprintf(`{"projectId":%q,"status":"ACTIVE"}`, s.Project))
	if x := why(t, s.Scene, explainer(t, s.Scene), s.Carol, action, path); !x.Allowed {
		t.Errorf("after the fix: %+v", x)
	}
	x = why(t, s.Scene, explainer(t, s.Scene), s.Dan, action, "accounts/"+s.Account+"/projects/proj-absent-v1/instances")
	if len(x.Fixes) > 0 || len(x.Blocked) != 1 || !strings.HasPrefix(x.Blocked[0].At, "authz/conditions.rego:") {
		t.Errorf("a project that is not there: %+v", x)
	}
}

// TestUsersFormTellsWhatTheyMayKnow guarantees no place in the tree, and no roles but the system's, their own and those
// they could list. A project outside their lists looks like an unknown one.
func TestUsersFormTellsWhatTheyMayKnow(t *testing.T) {
	s := harness.NewTeam(t)
	const action = "project:instance:create"
	path := func(project string) string { return "accounts/" + s.Account + "/projects/" + project + "/instances" }
	role := harness.Call(t, "POST", s.Path("/roles"), s.AdminToken, `{"name":"hidden","scope":"PROJECT","permissions":["project:*:*"]}`)
	hidden, _ := role.Body["id"].(string)
	bob := s.UserToken(t, s.Bob)
	explained := func(project string) string {
		r := whyRaw(t, s.Scene, bob, s.Bob, action, path(project))
		var x map[string]any
		if err := json.Unmarshal(r.Raw, &x); err != nil || r.Status != 200 {
			t.Fatalf("%v %d %s", err, r.Status, r.Raw)
		}
		delete(x, "decided_at")
		for _, name := range []string{hidden, `"at"`, "affects", s.Admin, s.Carol} {
			if strings.Contains(string(r.Raw), name) {
				t.Errorf("%s is told: %s", name, r.Raw)
			}
		}
		said := must.Get(json.Marshal(x))(t)
		return strings.ReplaceAll(string(said), project, "PROJECT")
	}
	if present, absent := explained(s.Project), explained("proj-absent-v1"); present != absent || !strings.Contains(present, `"fixes":[]`) {
		t.Errorf("a project is told from none:\n%s\n%s", present, absent)
	}
	put(t, s.Scene, "team_member", s.Bob, `{}`) // who lists roles, users and projects
	x := why(t, s.Scene, bob, s.Bob, action, path(s.Project))
	var roles []string
	for _, fix := range x.Fixes {
		roles = append(roles, fix.Steps[0].Role)
		if fix.Affects == nil {
			t.Errorf("a user who lists users is not told whom it affects: %+v", fix)
		}
	}
	slices.Sort(roles)
	want := []string{"account_admin", "project_admin", hidden}
	if slices.Sort(want); !slices.Equal(roles, want) {
		t.Errorf("who lists roles is told of %v", roles)
	}
}
