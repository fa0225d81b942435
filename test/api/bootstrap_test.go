package api_test

import (
	"encoding/json"
	"testing"
)

// TestBootstrapMakesAFirstAccount: it prints JSON, a repeat prints the same and changes
// nothing, a contradiction is refused; the gateway then knows the account.
func TestBootstrapMakesAFirstAccount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"bootstrap", "--data-dir", dir, "--account", "acct-first-v1", "--name", "First", "--admin-email", "ada@first.example", "--user", "user-ada-v1", "--project", "proj-first-v1"}
	where := storeArgs(t, dir, nil)
	args = append(args, where...)
	first := run(t, nil, args...)
	var made map[string]any
	if err := json.Unmarshal([]byte(first.Stdout), &made); err != nil || first.Code != 0 {
		t.Fatalf("%v %+v", err, first)
	}
	wantFields(t, "the answer", made, "account", "admin", "project")
	wantFields(t, "the account", made["account"], "id", "name", "status", "created_at", "updated_at")
	wantFields(t, "the admin", made["admin"], "id", "email", "name", "status", "is_verified", "created_at", "updated_at")
	wantFields(t, "the project", made["project"], "id", "account_id", "name", "created_at", "updated_at")
	if again := run(t, nil, args...); again != first {
		t.Errorf("a repeat: %+v, want %+v", again, first)
	}
	other := append([]string{"bootstrap", "--data-dir", dir, "--account", "acct-first-v1", "--name", "Other", "--admin-email", "ada@first.example"}, where...)
	wantOneLine(t, run(t, nil, other...), "acct-first-v1", "First")

	g := startGatewayIn(t, dir)
	r := call(t, "GET", g.URL+"/api/v1/accounts/acct-first-v1/projects", g.userToken(t, "user-ada-v1"), "")
	if r.Status != 200 || at(r.Body, "projects", 0, "id") != "proj-first-v1" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if onMongoDB() { // where nobody has to wait for a server to end
		if again := run(t, nil, args...); again != first {
			t.Errorf("a repeat beside the server: %+v, want %+v", again, first)
		}
		return
	}
	// While a server holds the folder: one line that names the folder and what to ask instead.
	wantOneLine(t, run(t, nil, args...), dir, "in use", "POST /api/v1/accounts ", "POST /api/v1/accounts/{accountId}/projects ")
	wantOneLine(t, run(t, nil, ephemeral(dir)...), dir, "in use")
}
