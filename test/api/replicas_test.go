package api_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// replicas are gateways on one database, one Redis and one master key, in every set-up;
// their addresses are known one by one, and the Redis is their own.
type replicas struct {
	*team
	all   []*gatewayProcess
	redis *servers.RedisServer
	mongo string
	flags []string // with which another one is started
}

func startReplicas(t *testing.T, n int, args ...string) *replicas {
	t.Helper()
	dir := t.TempDir()
	address := databaseOf(t, dir)
	dropDatabase(t, address)
	r := &replicas{redis: servers.NewRedis(t), mongo: address}
	r.flags = []string{"--mongo-url", address, "--redis-url", r.redis.URL, "--master-key-file", masterKeyOf(t, dir)}
	r.flags = append(r.flags, args...)
	for range n {
		r.all = append(r.all, launch(t, dir, r.flags...))
	}
	r.team = &team{scene: newScene(t, r.all[0])}
	return r
}

// askAt is authorization.check at one of the replicas.
func (r *replicas) askAt(t *testing.T, n int, user, action, rest string) reply {
	t.Helper()
	there := *r.scene
	there.gatewayProcess = r.all[n]
	return there.ask(t, user, action, rest)
}

// TestRevokeIsInForceOnEveryReplica from the moment it is answered, whatever Redis does
// meanwhile; so is a grant.
func TestRevokeIsInForceOnEveryReplica(t *testing.T) {
	t.Parallel()
	r := startReplicas(t, 3)
	user := "user-" + strings.ToLower(t.Name()[:6]) + "-v1"
	sync := r.serviceToken(t, "users:sync")
	body := `{"email":"u@replicas.example","external_id":"` + user + `","account_id":"` + r.Account + `"}`
	if got := call(t, "POST", r.URL+"/api/v1/users", sync, body); got.Status != 201 {
		t.Fatalf("user.create: %d %s", got.Status, got.Raw)
	}
	faults := []func(){
		func() {}, func() { r.redis.Client(t).FlushAll(t.Context()) }, func() { r.redis.Kill() }, func() { r.redis.Start(t) }, func() {},
	}
	path := assignmentPath("project_reader", user, r.Project)
	for round := range 15 {
		faults[round%len(faults)]()
		for _, step := range []struct {
			method string
			want   bool
		}{{"PUT", true}, {"DELETE", false}} {
			writer := *r.scene
			writer.gatewayProcess = r.all[round%3]
			if got := writer.do(t, step.method, path, map[string]string{"PUT": "{}"}[step.method]); got.Status != 200 {
				t.Fatalf("round %d, %s: %d %s", round, step.method, got.Status, got.Raw)
			}
			for n := range r.all {
				got := r.askAt(t, n, user, "project:instance:read", "/projects/"+r.Project+"/instances/i-1")
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
	r := startReplicas(t, 2)
	made := call(t, "POST", r.all[0].URL+"/api/v1/accounts/"+r.Account+"/users/"+r.Admin+"/keys", r.AdminToken, `{"key_name":"k","scopes":["read"]}`)
	raw, _ := at(made.Body, "data", "raw_key").(string)
	if raw == "" {
		raw, _ = at(made.Body, "data", "key").(string)
	}
	if got := call(t, "GET", r.all[1].URL+"/api/v1/accounts/"+r.Account+"/roles", raw, ""); made.Status != 201 || got.Status != 200 {
		t.Errorf("%d %s, then %d %s", made.Status, made.Raw, got.Status, got.Raw)
	}
	other := masterKeyOf(t, t.TempDir())
	wantOneLine(t, run(t, nil, append(ephemeral(t.TempDir()), "--mongo-url", r.mongo, "--master-key-file", other)...), "master key", "another")
}

func TestNewGenerationIsForADatabase(t *testing.T) {
	t.Parallel()
	wantOneLine(t, run(t, nil, "store", "new-generation", "--data-dir", t.TempDir()), "--mongo-url", "embedded")
}
