package contract

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Row is a row of policies/routes/data.json.
type Row struct {
	Method, Path, Area string
	Access             []string
	Claims             bool
	// Any says that the row is for any method; Method is then the document's.
	Any bool `json:"-"`
}

// Pattern is the row's path without the forms of its ids.
func (row Row) Pattern() string {
	return strings.NewReplacer(":acct}", "}", ":proj}", "}").Replace(row.Path)
}

// Catalogue is the action catalogue that the program embeds.
func Catalogue(t testing.TB) map[string]Row {
	t.Helper()
	raw, err := os.ReadFile("../../policies/routes/data.json")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]Row{}
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 20 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for name, row := range rows {
		if row.Method == "*" {
			row.Method, row.Any = "GET", true
			rows[name] = row
		}
	}
	return rows
}
