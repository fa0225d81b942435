package api_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestRevokeIsInForceOnEveryReplica guarantees it from the answer on, in every state of Redis, for
// a grant, too.
func TestRevokeIsInForceOnEveryReplica(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 3)
	user := "user-" + strings.ToLower(t.Name()[:6]) + "-v1"
	sync := r.ServiceToken(t, "users:sync")
	body := `{"email":"u@replicas.example","external_id":"` + user + `","account_id":"` + r.Account + `"}`
	if got := harness.Call(t, "POST", r.URL+"/api/v1/users", sync, body); got.Status != 201 {
		t.Fatalf("user.create: %d %s", got.Status, got.Raw)
	}
	faults := []func(){
		func() {}, func() { r.Redis.Client(t).FlushAll(t.Context()) }, func() { r.Redis.Kill() }, func() { r.Redis.Start(t) }, func() {},
	}
	path := harness.AssignmentPath("project_reader", user, r.Project)
	for round := range 15 {
		faults[round%len(faults)]()
		for _, step := range []struct {
			method string
			want   bool
		}{{"PUT", true}, {"DELETE", false}} {
			writer := *r.Scene
			writer.Gateway = r.All[round%3]
			if got := writer.Do(t, step.method, path, map[string]string{"PUT": "{}"}[step.method]); got.Status != 200 {
				t.Fatalf("round %d, %s: %d %s", round, step.method, got.Status, got.Raw)
			}
			for n := range r.All {
				got := r.AskAt(t, n, user, "project:instance:read", "/projects/"+r.Project+"/instances/i-1")
				if got.Status != 200 || got.Body["allowed"] != step.want {
					t.Errorf("round %d, after %s on replica %d, replica %d: %d %s", round, step.method, round%3, n, got.Status, got.Raw)
				}
			}
		}
	}
}

// TestReplicasShareOneMasterKey: tokens, API keys and page tokens of one hold on the others.
func TestReplicasShareOneMasterKey(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 2)
	made := harness.Call(t, "POST", r.All[0].URL+"/api/v1/accounts/"+r.Account+"/users/"+r.Admin+"/keys", r.AdminToken, `{"key_name":"k","scopes":["read"]}`)
	raw, _ := harness.At(made.Body, "data", "raw_key").(string)
	if raw == "" {
		raw, _ = harness.At(made.Body, "data", "key").(string)
	}
	if got := harness.Call(t, "GET", r.All[1].URL+"/api/v1/accounts/"+r.Account+"/roles", raw, ""); made.Status != 201 || got.Status != 200 {
		t.Errorf("%d %s, then %d %s", made.Status, made.Raw, got.Status, got.Raw)
	}
	other := harness.MasterKeyOf(t, t.TempDir())
	harness.WantOneLine(t, harness.Command(t, nil, append(harness.Ephemeral(t.TempDir()), "--mongo-url", r.Mongo, "--master-key-file", other)...), "master key", "another")
}

func TestNewGenerationIsForADatabase(t *testing.T) {
	t.Parallel()
	harness.WantOneLine(t, harness.Command(t, nil, "store", "new-generation", "--data-dir", t.TempDir()), "--mongo-url", "embedded")
}
