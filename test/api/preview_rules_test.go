package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// previewed makes a preview of changes given as JSON.
func previewed(t *testing.T, s *harness.Scene, token, changes string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.Path("/preview"), token, `{"changes":[`+changes+`]}`)
}

// TestWhoMayPreview guarantees that holders of account:authorization:explain in the account preview, with a key of the
// scope write, too: explain is not a verb for reading. Everybody else gets 403 and no row.
func TestWhoMayPreview(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	role := s.Must(t, 201, "POST", "/roles", `{"name":"explainers","scope":"ACCOUNT","permissions":["account:authorization:explain"]}`).Body["id"].(string)
	s.Grant(t, role, s.Dan, "")
	s.Grant(t, "account_reader", s.Carol, "")
	key := func(scope string) string {
		r := harness.Call(t, "POST", s.Path("/users/"+s.Admin+"/keys"), s.AdminToken, fmt.Sprintf(`{"key_name":"k","scopes":[%q]}`, scope))
		secret, _ := harness.At(r.Body, "data", "raw_key").(string)
		return secret
	}
	change := fmt.Sprintf(`{"kind":"assign","role":"team_member","user_id":%q}`, s.Bob)
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"200 an account admin":              {s.AdminToken, 200},
		"200 a role with the action":        {s.UserToken(t, s.Dan), 200},
		"403 an account reader":             {s.UserToken(t, s.Carol), 403},
		"403 a member":                      {s.UserToken(t, s.Bob), 403},
		"403 another account's admin":       {other.AdminToken, 403},
		"403 a service that may explain":    {s.ServiceToken(t, "authz:explain"), 403},
		"403 a service that makes accounts": {s.Platform, 403},
		"403 a key that reads":              {key("read"), 403},
		"200 a key that writes":             {key("write"), 200},
		"401 nobody":                        {"", 401},
	} {
		r := previewed(t, s.Scene, c.token, change)
		gains, _ := r.Body["gains"].([]any)
		if r.Status != c.want || c.want == 200 && len(gains) != 3 || c.want != 200 && r.Body["gains"] != nil {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	absent := harness.Call(t, "POST", s.URL+"/api/v1/accounts/acct-absent-v1/preview", s.AdminToken, `{}`)
	foreign := harness.Call(t, "POST", other.Path("/preview"), s.AdminToken, `{}`)
	harness.WantRefusal(t, foreign, 403, "FORBIDDEN")
	if strings.ReplaceAll(string(absent.Raw), "acct-absent-v1", other.Account) != string(foreign.Raw) {
		t.Errorf("absent: %s\nanother's: %s", absent.Raw, foreign.Raw)
	}
}

// TestPreviewRefusesForeignIDsAsAbsentOnes guarantees it for every field with an id, word for word.
func TestPreviewRefusesForeignIDsAsAbsentOnes(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	group, _ := harness.At(s.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
	theirGroup, _ := harness.At(other.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
	theirRole, _ := other.Must(t, 201, "POST", "/roles", `{"name":"r","scope":"ACCOUNT","permissions":["account:user:read"]}`).Body["id"].(string)
	other.Grant(t, theirRole, other.Bob, "")
	for change, ids := range map[string][2]string{
		`{"kind":"assign","role":"ID","user_id":"BOB"}`:                                                      {theirRole, "role-absent-v1"},
		`{"kind":"assign","role":"team_member","user_id":"ID"}`:                                              {other.Bob, "user-absent-v1"},
		`{"kind":"assign","role":"team_member","group_id":"ID"}`:                                             {theirGroup, "group-absent-v1"},
		`{"kind":"assign","role":"project_reader","user_id":"BOB","project_id":"ID"}`:                        {other.Project, "proj-absent-v1"},
		`{"kind":"revoke","role":"ID","user_id":"BOB"}`:                                                      {theirRole, "role-absent-v1"},
		`{"kind":"revoke","role":"team_member","group_id":"ID"}`:                                             {theirGroup, "group-absent-v1"},
		`{"kind":"revoke","role":"project_reader","user_id":"BOB","project_id":"ID"}`:                        {other.Project, "proj-absent-v1"},
		`{"kind":"role_put","role":"ID","name":"n","permissions":["account:user:read"]}`:                     {theirRole, "role-absent-v1"},
		`{"kind":"role_put","name":"n","scope":"PROJECT","permissions":["project:x:read"],"projectId":"ID"}`: {other.Project, "proj-absent-v1"},
		`{"kind":"role_delete","role":"ID"}`:                                                                 {theirRole, "role-absent-v1"},
		`{"kind":"group_add","group_id":"ID","user_id":"BOB"}`:                                               {theirGroup, "group-absent-v1"},
		`{"kind":"group_add","group_id":"GROUP","user_id":"ID"}`:                                             {other.Bob, "user-absent-v1"},
		`{"kind":"group_remove","group_id":"GROUP","user_id":"ID"}`:                                          {other.Bob, "user-absent-v1"},
		`{"kind":"user_status","user_id":"ID","status":"INACTIVE"}`:                                          {other.Bob, "user-absent-v1"},
	} {
		var answers [2]string
		for i, id := range ids {
			r := previewed(t, s.Scene, s.AdminToken, strings.NewReplacer("ID", id, "BOB", s.Bob, "GROUP", group).Replace(change))
			answers[i] = strings.ReplaceAll(string(r.Raw), id, "ID")
			harness.WantRefusal(t, r, 400, "BAD_REQUEST")
		}
		if answers[0] != answers[1] || !strings.Contains(answers[0], "changes[0].") {
			t.Errorf("%s\nanother's: %s\nabsent:    %s", change, answers[0], answers[1])
		}
	}
}

// TestPreviewNamesAllProblems guarantees one problem for each wrong field of each change, by its path.
func TestPreviewNamesAllProblems(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := previewed(t, s.Scene, s.AdminToken, fmt.Sprintf(`{"kind":"assign","user_id":%q,"group_id":"g","role":"project_reader","until":"2020-01-01T00:00:00Z"},
		{"kind":"revoke","role":"team_member","user_id":%[1]q,"until":"2099-01-01T00:00:00Z"},
		{"kind":"role_put","role":"team_member","name":"n","permissions":["x"]},{"kind":"role_put","name":"account_admin","permissions":[]},
		{"kind":"role_delete"},{"kind":"group_add"},{"kind":"user_status","user_id":%[1]q,"status":"INVITED"},{"kind":"other"},{}`, s.Bob))
	got := problems(t, r)
	for _, want := range []string{
		"changes[0].user_id: is needed, or group_id, and not both", "changes[0].until: must be in the future", "changes[0].project_id: is missing", "changes[1].until: unknown field",
		"changes[2].permissions[0]: ", "changes[2].role: is a system role", "changes[3].name: is in use", "changes[3].permissions: must have", "changes[3].scope: is missing",
		"changes[4].role: is missing", "changes[5].group_id: is missing", "changes[5].user_id: is missing", "changes[6].status: must be one of", "changes[7].kind: must be one of", "changes[8].kind: is missing",
	} {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("no problem %q in %q", want, got)
		}
	}
	for body, want := range map[string]string{
		`{}`: "changes: is missing", `{"changes":[]}`: "changes: must have 1 to 20 items", `{"changes":[],"x":1}`: "x: unknown field",
		`{"changes":[` + strings.Repeat(`{"kind":"role_delete","role":"r"},`, 20) + `{}]}`: "changes: must have 1 to 20 items", `[]`: "the body must be a JSON object",
		`{"changes":[{"kind":"role_delete","kind":"revoke"}]}`:                                     "the body is not acceptable JSON",
		fmt.Sprintf(`{"changes":[{"kind":"revoke","role":"account_reader","user_id":%q}]}`, s.Bob): "changes[0].role: is not assigned like this",
	} {
		r := s.Do(t, "POST", "/preview", body)
		if got := strings.Join(problems(t, r), "\n"); r.Status != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", body, r.Status, r.Raw)
		}
	}
	if r := s.Do(t, "POST", "/preview?x=1", `{}`); r.Status != 400 {
		t.Errorf("with a query: %d %s", r.Status, r.Raw)
	}
	if r := harness.Call(t, "POST", s.Path("/preview"), s.AdminToken, `{}`, "Content-Type", "text/plain"); r.Status != 415 {
		t.Errorf("as text: %d %s", r.Status, r.Raw)
	}
}
