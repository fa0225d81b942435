package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestEveryQueryGoesThroughItsIndex looks at the plans of all texts, for the suite's
// collections and the domain's: one step, through the declared index, no sorting.
func TestEveryQueryGoesThroughItsIndex(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, append(storetest.Schemas(), records.NewCollections().Schemas()...)...)
	db := raw(t, filepath.Join(dir, "portcullis.db"))
	queries := s.Queries()
	if len(queries) < 100 {
		t.Fatalf("only %d queries", len(queries))
	}
	for text, index := range queries {
		steps := plan(t, db, text)
		if len(steps) != 1 || !strings.Contains(steps[0]+" ", "INDEX "+index+" ") {
			t.Errorf("%s\ngoes by %q, want the index %s alone", text, steps, index)
		}
		// With equality given, an index is searched and not read from end to end.
		if strings.Contains(text, " = ?") && !strings.HasPrefix(steps[0], "SEARCH ") {
			t.Errorf("%s\nis no search: %q", text, steps)
		}
		// A prefix reads its texts alone, and behind a place none before it.
		if strings.Contains(text, " >= ?") && (!strings.Contains(steps[0], ">") || !strings.Contains(steps[0], "<")) {
			t.Errorf("%s\nis not bounded at both ends: %q", text, steps)
		}
	}
}

// TestReadsTogetherGoThroughTheirIndexes guarantees that each of them is a search, and nothing is sorted or set aside.
func TestReadsTogetherGoThroughTheirIndexes(t *testing.T) {
	dir, c := t.TempDir(), records.NewCollections()
	s := open(t, dir, c.Schemas()...)
	query := store.Query{Index: records.ByUser, Equal: []store.Value{store.String("a"), store.String("u")}}
	text := must.Get(s.Together(
		store.Read{Schema: c.Users.Schema(), Key: "u"},
		store.Read{Schema: c.Members.Schema(), Query: query},
		store.Read{Schema: c.APIKeys.Schema(), Query: query},
	))(t)
	searches := 0
	for _, step := range plan(t, raw(t, filepath.Join(dir, "portcullis.db")), text) {
		switch {
		case strings.HasPrefix(step, "SEARCH "):
			searches++
		case strings.HasPrefix(step, "SCAN (subquery") || strings.HasPrefix(step, "CO-ROUTINE ") || strings.Contains(step, "UNION ALL"):
		case step == "COMPOUND QUERY" || step == "LEFT-MOST SUBQUERY":
		default:
			t.Errorf("%s", step)
		}
	}
	if searches != 4 {
		t.Errorf("%d searches, want one for the revision and one for each read", searches)
	}
}

func plan(t *testing.T, db *sql.DB, text string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = 1
	}
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must.Do(t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	must.Do(t, rows.Err())
	return steps
}
