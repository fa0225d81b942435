package harness

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// Replicas are gateways on one database, one Redis and one master key, in every set-up;
// their addresses are known one by one, and the Redis is their own.
type Replicas struct {
	*Team
	All   []*Gateway
	Redis *servers.RedisServer
	Mongo string
	Flags []string // with which another one is started
}

// StartReplicas starts n gateways on one database, with an account and its admin.
func StartReplicas(t *testing.T, n int, args ...string) *Replicas {
	t.Helper()
	dir := t.TempDir()
	address := databaseOf(t, dir)
	dropDatabase(t, address)
	r := &Replicas{Redis: servers.NewRedis(t), Mongo: address}
	r.Flags = []string{"--mongo-url", address, "--redis-url", r.Redis.URL, "--master-key-file", MasterKeyOf(t, dir)}
	r.Flags = append(r.Flags, args...)
	for range n {
		r.All = append(r.All, Launch(t, dir, r.Flags...))
	}
	r.Team = &Team{Scene: NewScene(t, r.All[0])}
	return r
}

// AskAt is authorization.check at one of the replicas.
func (r *Replicas) AskAt(t *testing.T, n int, user, action, rest string) Reply {
	t.Helper()
	scene := *r.Scene
	scene.Gateway = r.All[n]
	return scene.Ask(t, user, action, rest)
}

// AddUser makes a member without a role.
func (r *Replicas) AddUser(t *testing.T, id string) {
	t.Helper()
	body := fmt.Sprintf(`{"email":"%s@replicas.example","external_id":%q,"account_id":%q}`, id, id, r.Account)
	if got := Call(t, "POST", r.URL+"/api/v1/users", r.ServiceToken(t, "users:sync"), body); got.Status != 201 {
		t.Fatalf("user.create: %d %s", got.Status, got.Raw)
	}
}
