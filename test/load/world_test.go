package load_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

const (
	// projects is the number of projects of an account. The assignments of a user are in different projects.
	projects = 1000
	// emptyProject is one more project, without assignments.
	emptyProject = "proj-none-v1"
	// seedStep is about the number of records in a transaction.
	seedStep = 20000
	// tokenTTL outlasts any run.
	tokenTTL = 24 * time.Hour
)

// world is the data for decisions: one account, its users with their assignments, and the policy tree with the roles.
type world struct {
	dir, tree string
	account   string
	users     int
	// assignments is the number for each user. The k-th is of role user+k in project user+k.
	assignments int
	roles       []role
	// holders is the number of users with the last role in the whole account. They are at equal distances.
	holders int
	// tokens are of the service and of the known users. key verifies them.
	tokens struct {
		service string
		users   []string
	}
	key ed25519.PublicKey
}

func userID(u int) string    { return fmt.Sprintf("user-%06d", u) }
func projectID(p int) string { return fmt.Sprintf("proj-%04d-v1", p%projects) }

// held returns the k-th role of a user and its project.
func (w *world) held(user, k int) (role, string) {
	roles := w.roles
	if w.holders > 0 {
		roles = roles[:len(roles)-1]
	}
	return roles[(user+k)%len(roles)], projectID(user + k)
}

// newWorld returns a world in a new data folder.
func newWorld(b *testing.B, users, assignments int, tree string, roles []role) *world {
	b.Helper()
	return (&world{users: users, assignments: assignments, tree: tree, roles: roles}).fill(b)
}

// fill writes the world to a new data folder, and signs its tokens.
func (w *world) fill(b *testing.B) *world {
	b.Helper()
	w.dir, w.account = b.TempDir(), "acct-load-v1"
	key := w.masterKey(b)
	c := records.NewCollections()
	s, err := sqlite.Open(context.Background(), sqlite.Options{Dir: w.dir, Schemas: c.Schemas()})
	if err != nil {
		b.Fatal(err)
	}
	w.seed(b, s, c)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	w.sign(b, key)
	return w
}

// onMongoDB writes the world to a database.
func (w *world) onMongoDB(b *testing.B, url string) {
	b.Helper()
	c := records.NewCollections()
	s, err := mongodb.Open(context.Background(), mongodb.Options{URL: url, Schemas: c.Schemas()})
	if err != nil {
		b.Fatal(err)
	}
	w.seed(b, s, c)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func (w *world) masterKey(b *testing.B) resources.MasterKey {
	b.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	path := filepath.Join(w.dir, "master.key")
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(raw)+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	key, err := resources.ReadMasterKey(f)
	if err != nil {
		b.Fatal(err)
	}
	return key
}

// sign signs the service's token and one for each known user.
func (w *world) sign(b *testing.B, key resources.MasterKey) {
	b.Helper()
	signer, err := authn.NewSigner(key)
	if err != nil {
		b.Fatal(err)
	}
	w.key = ed25519.NewKeyFromSeed(key.Derive(resources.PurposeSigning)[0]).Public().(ed25519.PublicKey)
	token := func(r authn.TokenRequest) string {
		text, err := signer.Sign(r)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	w.tokens.service = token(authn.TokenRequest{
		Subject: resources.ServicePrefix + "load", Scopes: []string{resources.ServiceScopeCheck}, TTL: tokenTTL,
	})
	for u := range min(w.users, *knownUsers) {
		w.tokens.users = append(w.tokens.users, token(authn.TokenRequest{Subject: userID(u), TTL: tokenTTL}))
	}
}

// seed writes the records, about seedStep in a transaction.
func (w *world) seed(b *testing.B, s store.Store, c records.Collections) {
	b.Helper()
	ctx, now := context.Background(), resources.At(time.Now())
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	write := func(start, end int, one func(tx store.Tx, i int) error) {
		err := s.Transact(ctx, func(tx store.Tx) error {
			_, err := tx.Bump(ctx, w.account)
			for i := start; err == nil && i < end; i++ {
				err = one(tx, i)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	write(0, 1, func(tx store.Tx, _ int) error {
		return c.Accounts.Insert(ctx, tx, resources.Account{
			ID: w.account, Name: w.account, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
		})
	})
	write(0, projects+1, func(tx store.Tx, i int) error {
		id := emptyProject
		if i < projects {
			id = projectID(i)
		}
		return c.Projects.Insert(ctx, tx, resources.Project{
			ID: id, AccountID: w.account, Name: id, State: resources.ProjectActive, CreatedAt: now, UpdatedAt: now,
		})
	})
	step := max(seedStep/(1+w.assignments), 1)
	for start := 0; start < w.users; start += step {
		write(start, min(start+step, w.users), func(tx store.Tx, u int) error { return w.seedUser(ctx, tx, c, ids, u, now) })
	}
}

func (w *world) seedUser(ctx context.Context, tx store.Tx, c records.Collections, ids resources.IDs, u int, now resources.Time) error {
	err := c.Users.Insert(ctx, tx, resources.User{
		ExternalID: userID(u), UUID: ids.UUID(), AccountID: w.account, Email: userID(u) + "@load.example", Name: userID(u),
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
	assign := func(r role, project string) error {
		a := resources.Assignment{
			AccountID: w.account, RoleID: r.id, RoleScope: r.scope, ProjectID: project,
			AssigneeType: resources.AssigneeUser, AssigneeID: userID(u), Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
		}
		a.ID = records.AssignmentID(a)
		return c.Assignments.Insert(ctx, tx, a)
	}
	for k := 0; err == nil && k < w.assignments; k++ {
		err = assign(w.held(u, k))
	}
	if err == nil && w.holders > 0 && u%(w.users/w.holders) == 0 {
		err = assign(w.roles[len(w.roles)-1], "")
	}
	return err
}
