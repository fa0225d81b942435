package sqlite_test

import (
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// reduced returns the schema without columns and the indexes that have them.
func reduced(s *store.Schema, columns ...string) *store.Schema {
	out := *s
	out.Columns, out.Indexes = nil, nil
	for _, c := range s.Columns {
		if !slices.Contains(columns, c.Name) {
			out.Columns = append(out.Columns, c)
		}
	}
	for _, ix := range s.Indexes {
		if !slices.ContainsFunc(ix.Columns, func(c string) bool { return slices.Contains(columns, c) }) {
			out.Indexes = append(out.Indexes, ix)
		}
	}
	return &out
}

// TestUsersAndAssignmentsOfBeforeAreFound guarantees that a store without the columns for searches gains them at its
// next start.
func TestUsersAndAssignmentsOfBeforeAreFound(t *testing.T) {
	dir, c, ctx := t.TempDir(), records.NewCollections(), t.Context()
	text := store.String
	users, assignments := reduced(c.Users.Schema(), "name", "ident"), reduced(c.Assignments.Schema(), "expires")
	before := open(t, dir, users, assignments)
	err := before.Transact(ctx, func(tx store.Tx) error {
		row := store.Row{
			Key: "Id-1", Body: []byte(`{"external_id":"Id-1","id":"u","account_id":"a","email":"Bob@example.com","name":"Robert"}`),
			Columns: []store.Value{text("u"), text("bob@example.com"), {}, text("a"), store.Int(0)},
		}
		if err := tx.Insert(ctx, users, row); err != nil {
			return err
		}
		return tx.Insert(ctx, assignments, store.Row{
			Key: "k", Body: []byte(`{"account_id":"a","role_id":"r","assignee_type":"USER","assignee_id":"Id-1","expires_at":"2030-01-31T12:00:00.000Z"}`),
			Columns: []store.Value{text("a"), text("r"), text("USER"), text("Id-1"), {}, text("|"), store.Int(0)},
		})
	})
	if err == nil {
		err = before.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, c.Schemas()...)
	err = s.View(ctx, func(tx store.Tx) error {
		for index, prefix := range map[string]string{records.ByMemberName: "rob", records.ByMemberID: "id-", records.ByMemberEmail: "bob@"} {
			q := store.Query{Index: index, Equal: []store.Value{text("a")}, Prefix: prefix}
			if n, err := c.Users.Count(ctx, tx, q); err != nil || n != 1 {
				t.Errorf("%s: %d, %v", index, n, err)
			}
		}
		q := store.Query{Index: records.ByExpiry, Equal: []store.Value{text("a")}, After: &store.Cursor{Values: []store.Value{store.Int(1)}}}
		recs, err := c.Assignments.Find(ctx, tx, q)
		if len(recs) != 1 || recs[0].Value.AssigneeType != resources.AssigneeUser {
			t.Errorf("by its end: %v", recs)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
