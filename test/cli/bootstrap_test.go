package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestBootstrapMakesAFirstAccount: it prints JSON, a repeat prints the same and changes
// nothing, a contradiction is refused; the gateway then knows the account. A gateway without one says so at its start.
func TestBootstrapMakesAFirstAccount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"bootstrap", "--data-dir", dir, "--account", "acct-first-v1", "--name", "First", "--admin-email", "ada@first.example", "--user", "user-ada-v1", "--project", "proj-first-v1"}
	where := harness.StoreArgs(t, dir, nil)
	args = append(args, where...)
	first := harness.Command(t, nil, args...)
	var made map[string]any
	if err := json.Unmarshal([]byte(first.Stdout), &made); err != nil || first.Code != 0 {
		t.Fatalf("%v %+v", err, first)
	}
	harness.WantFields(t, "the answer", made, "account", "admin", "project")
	harness.WantFields(t, "the account", made["account"], "id", "name", "status", "created_at", "updated_at")
	harness.WantFields(t, "the admin", made["admin"], "id", "email", "name", "status", "is_verified", "created_at", "updated_at")
	harness.WantFields(t, "the project", made["project"], "id", "account_id", "name", "created_at", "updated_at")
	if again := harness.Command(t, nil, args...); again != first {
		t.Errorf("a repeat: %+v, want %+v", again, first)
	}
	other := append([]string{"bootstrap", "--data-dir", dir, "--account", "acct-first-v1", "--name", "Other", "--admin-email", "ada@first.example"}, where...)
	harness.WantOneLine(t, harness.Command(t, nil, other...), "acct-first-v1", "First")

	const warning = "the store has no account"
	if empty := harness.Start(t); !strings.Contains(empty.Stderr.String(), warning) {
		t.Error("a gateway without an account does not say so")
	}
	g := harness.StartIn(t, dir)
	if strings.Contains(g.Stderr.String(), warning) {
		t.Error("a gateway with an account says that it has none")
	}
	r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-first-v1/projects", g.UserToken(t, "user-ada-v1"), "")
	if r.Status != 200 || harness.At(r.Body, "projects", 0, "id") != "proj-first-v1" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if harness.OnMongoDB() { // where nobody has to wait for a server to end
		if again := harness.Command(t, nil, args...); again != first {
			t.Errorf("a repeat beside the server: %+v, want %+v", again, first)
		}
		return
	}
	// While a server holds the folder: one line that names the folder and what to ask instead.
	harness.WantOneLine(t, harness.Command(t, nil, args...), dir, "in use", "POST /api/v1/accounts ", "POST /api/v1/accounts/{accountId}/projects ")
	harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(dir)...), dir, "in use")
}
