package consistency_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// shape is the size of a world.
type shape struct {
	// leases has the lease of each replica.
	leases []string
	// accounts have a user for each kind of right, perKind times.
	accounts, perKind, duels int
	// behind is the address of the database for the first replica; "" is that of the others.
	behind string
	// readOnly is the number of replicas, from the first on, without changes.
	readOnly int
	// args are further arguments of each gateway. With proxied, they name an upstream for widgets.
	args    []string
	proxied bool
}

// world is a running set of replicas, with the data under test.
type world struct {
	shape
	t        testing.TB
	dir      string
	mongo    *servers.ReplicaSet
	database string
	redis    *servers.RedisServer
	replicas []*replica
	issuer   *issuer
	// checker, sync and platform are tokens of services.
	checker, sync, platform string

	collections records.Collections
	cells       []*cell
	duels       []*duel
	h           *history
	// hot has the cells changed last.
	hot hot
	// phase is the name of the current measurement.
	phase atomic.Pointer[string]
}

// newWorld seeds the store and starts the replicas, MongoDB and Redis. Without a replica set it starts one gateway on
// the embedded store, without Redis.
func newWorld(t testing.TB, binary string, set *servers.ReplicaSet, s shape) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{shape: s, t: t, mongo: set, dir: dir, issuer: newIssuer(t, dir), collections: records.NewCollections()}
	if set != nil {
		w.database, w.redis = set.Database(t), servers.NewRedis(t)
	}
	w.checker = w.issuer.sign(t, "service-checker", "authz:check")
	w.sync = w.issuer.sign(t, "service-sync", "users:sync")
	w.platform = w.issuer.sign(t, "service-platform", "platform:admin")
	w.seed()
	key := filepath.Join(dir, "master.key")
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	must.Do(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(raw)+"\n"), 0o600))
	for n, lease := range s.leases {
		r := &replica{n: n, binary: binary, url: "http://" + servers.Address(t), private: "http://" + servers.Address(t), args: slices.Concat([]string{
			"--data-dir", w.dataDir(n), "--master-key-file", key,
			"--jwks-file", w.issuer.jwks, "--jwt-issuer", issuerName, "--jwt-audience", audience,
		}, s.args)}
		if set != nil {
			r.args = append(r.args, "--mongo-url", w.databaseOf(n), "--redis-url", w.redis.URL, "--freshness-lease", lease)
		}
		r.start(t)
		t.Cleanup(r.kill)
		w.replicas = append(w.replicas, r)
	}
	w.h = newHistory()
	return w
}

func (w *world) dataDir(n int) string { return filepath.Join(w.dir, fmt.Sprint(n)) }

// openStore opens the store of the gateways, before they run.
func (w *world) openStore(ctx context.Context) (store.Store, error) {
	if w.mongo == nil {
		return sqlite.Open(ctx, sqlite.Options{Dir: w.dataDir(0), Schemas: w.collections.Schemas()})
	}
	return mongodb.Open(ctx, mongodb.Options{URL: w.database, Schemas: w.collections.Schemas()})
}

// databaseOf returns the URL of the database for a replica.
func (w *world) databaseOf(n int) string {
	u := must.Get(url.Parse(w.database))(w.t)
	if n == 0 && w.behind != "" {
		u.Host, u.RawQuery = w.behind, "directConnection=true"
	}
	return u.String()
}

// seed writes the accounts, users and projects, without any of the rights.
func (w *world) seed() {
	w.t.Helper()
	ctx := context.Background()
	s := must.Get(w.openStore(ctx))(w.t)
	defer func() { _ = s.Close() }()
	for n := range w.accounts {
		name := fmt.Sprintf("a%d", n)
		p := w.placeOf(name)
		cells := w.cellsOf(p, name)
		must.Do(w.t, s.Transact(ctx, func(tx store.Tx) error { return w.seedAccount(ctx, tx, p, cells) }))
		w.cells = append(w.cells, cells...)
	}
	for n := range w.shape.duels {
		d := newDuel(w, n)
		must.Do(w.t, s.Transact(ctx, func(tx store.Tx) error { return d.seed(ctx, tx) }))
		w.duels = append(w.duels, d)
	}
}

// place is an account with a project and an admin.
type place struct{ account, project, admin, token string }

func (w *world) placeOf(name string) place {
	p := place{account: "acct-" + name + "-v1", project: "proj-" + name + "-v1", admin: "user-" + name + "admin-v1"}
	p.token = w.issuer.sign(w.t, p.admin, "")
	return p
}

func (w *world) seedPlace(ctx context.Context, tx store.Tx, p place) error {
	now := resources.At(time.Now())
	if _, err := tx.Bump(ctx, p.account); err != nil {
		return err
	}
	if err := w.collections.Accounts.Insert(ctx, tx, resources.Account{
		ID: p.account, Name: p.account, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}); err != nil {
		return err
	}
	if err := w.collections.Projects.Insert(ctx, tx, resources.Project{
		ID: p.project, AccountID: p.account, Name: p.project, State: resources.ProjectActive, CreatedAt: now, UpdatedAt: now,
	}); err != nil {
		return err
	}
	if err := w.seedUser(ctx, tx, p, p.admin); err != nil {
		return err
	}
	return w.seedRole(ctx, tx, p, p.admin, resources.RoleAccountAdmin, "")
}

func (w *world) seedUser(ctx context.Context, tx store.Tx, p place, id string) error {
	now := resources.At(time.Now())
	return w.collections.Users.Insert(ctx, tx, resources.User{
		ExternalID: id, UUID: resources.IDs{Now: time.Now, Random: rand.Reader}.UUID(), AccountID: p.account, Email: id + "@seed.example", Name: id,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
}

// seedRole gives a user the role in a project, or in the account if project is "".
func (w *world) seedRole(ctx context.Context, tx store.Tx, p place, user, role, project string) error {
	now := resources.At(time.Now())
	a := resources.Assignment{
		AccountID: p.account, RoleID: role, RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser, AssigneeID: user,
		ProjectID: project, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	if project != "" {
		a.RoleScope = resources.RoleScopeProject
	}
	a.ID = records.AssignmentID(a)
	return w.collections.Assignments.Insert(ctx, tx, a)
}
