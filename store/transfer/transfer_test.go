package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/store/transfer"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

func embedded(t *testing.T, c records.Collections) store.Store {
	t.Helper()
	s := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: c.Schemas()}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func database(t *testing.T, c records.Collections) store.Store {
	t.Helper()
	s, err := mongodb.Open(t.Context(), mongodb.Options{URL: servers.Mongo(t, 1).Database(t), Schemas: c.Schemas(), Maintenance: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// fill writes users of some accounts, some of them changed again, so that revisions differ.
func fill(t *testing.T, s store.Store, c records.Collections, users int) {
	t.Helper()
	for i := range users {
		account := fmt.Sprintf("acct-%d-v1", i%7)
		must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
			if _, err := tx.Bump(t.Context(), account); err != nil {
				return err
			}
			id := fmt.Sprintf("user-%04d-v1", i)
			u := resources.User{ExternalID: id, UUID: "uuid-" + id, Email: id + "@example.com", AccountID: account, Name: "Ä \"" + id}
			if err := c.Users.Insert(t.Context(), tx, u); err != nil || i%3 > 0 {
				return err
			}
			rec, err := c.Users.Get(t.Context(), tx, id)
			if err != nil {
				return err
			}
			rec.Value.Status = resources.StatusActive
			return c.Users.Replace(t.Context(), tx, rec)
		}))
	}
	// A deleted project is in no index.
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		return c.Projects.Insert(t.Context(), tx, resources.Project{ID: "proj-gone-v1", State: resources.ProjectDeleted})
	}))
}

func copier(source, target store.Store, c records.Collections) transfer.Copier {
	return transfer.Copier{From: source, To: target, Collections: c, Source: "a", Progress: func(string, int) {}}
}

func digest(t *testing.T, s store.Store, c records.Collections) transfer.Digest {
	t.Helper()
	return must.Get(transfer.Read(t.Context(), s, c))(t)
}

// TestCopyIsEqual: records, their revisions and those of accounts, also of records in no index.
func TestCopyIsEqual(t *testing.T) {
	c := records.NewCollections()
	source, target := embedded(t, c), embedded(t, c)
	fill(t, source, c, 1203)
	said := must.Get(copier(source, target, c).Copy(t.Context()))(t)
	want, got := digest(t, source, c), digest(t, target, c)
	if differ := want.Differences(got); len(differ) > 0 || len(said.Differences(got)) > 0 || got.Total() != 1204 {
		t.Errorf("%v, %d records", differ, got.Total())
	}
	if err := transfer.Complete(t.Context(), target, c); err != nil {
		t.Error(err)
	}
	if _, err := copier(source, target, c).Copy(t.Context()); !errors.Is(err, transfer.ErrNotEmpty) {
		t.Errorf("a second copy: %v", err)
	}
}

// TestThereAndBack: embedded, MongoDB, embedded, equal at each step.
func TestThereAndBack(t *testing.T) {
	c := records.NewCollections()
	source, between, back := embedded(t, c), database(t, c), embedded(t, c)
	fill(t, source, c, 700)
	for _, step := range [][2]store.Store{{source, between}, {between, back}} {
		must.Get(copier(step[0], step[1], c).Copy(t.Context()))(t)
	}
	if differ := digest(t, source, c).Differences(digest(t, back, c)); len(differ) > 0 {
		t.Error(differ)
	}
}

// TestInterruptedCopyGoesOn guarantees that a copy continues from its end, without a gateway on it meanwhile. A copy of
// another source does not continue.
func TestInterruptedCopyGoesOn(t *testing.T) {
	c := records.NewCollections()
	source, target := embedded(t, c), embedded(t, c)
	fill(t, source, c, 1700)
	ctx, cancel := context.WithCancel(t.Context())
	first := copier(source, target, c)
	first.Progress = func(name string, written int) {
		if name == "users" && written == 1000 {
			cancel()
		}
	}
	if _, err := first.Copy(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if err := transfer.Complete(t.Context(), target, c); !errors.Is(err, transfer.ErrUnfinished) {
		t.Errorf("served: %v", err)
	}
	other := copier(source, target, c)
	other.Source = "b"
	if _, err := other.Copy(t.Context()); !errors.Is(err, transfer.ErrOtherCopy) {
		t.Errorf("another source: %v", err)
	}
	pages := 0
	second := copier(source, target, c)
	second.Progress = func(name string, _ int) {
		if name == "users" {
			pages++
		}
	}
	must.Get(second.Copy(t.Context()))(t)
	if differ := digest(t, source, c).Differences(digest(t, target, c)); len(differ) > 0 || pages != 2 {
		t.Errorf("%v, %d pages after the first 1,000", differ, pages)
	}
}

// TestCopyOfAStoreThatChangesIsRefused: a record that was changed behind the copy is found at the end, and
// the target stays marked.
func TestCopyOfAStoreThatChangesIsRefused(t *testing.T) {
	c := records.NewCollections()
	source, target := embedded(t, c), embedded(t, c)
	fill(t, source, c, 600)
	changing := copier(source, target, c)
	changing.Progress = func(name string, written int) {
		if name != "users" || written != 600 {
			return
		}
		err := source.Transact(t.Context(), func(tx store.Tx) error {
			rec, err := c.Users.Get(t.Context(), tx, "user-0001-v1")
			if err != nil {
				return err
			}
			rec.Value.Name = "changed"
			return c.Users.Replace(t.Context(), tx, rec)
		})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := changing.Copy(t.Context()); !errors.Is(err, transfer.ErrDiffers) {
		t.Errorf("%v", err)
	}
	if err := transfer.Complete(t.Context(), target, c); !errors.Is(err, transfer.ErrUnfinished) {
		t.Errorf("%v", err)
	}
}
