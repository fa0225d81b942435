package console_test

import (
	"encoding/csv"
	"strings"
	"testing"
)

// TestNoCellIsAFormula guarantees that a person's name runs in no spreadsheet. Spreadsheets of some countries separate cells at
// a semicolon or a tab, and read full-width signs.
func TestNoCellIsAFormula(t *testing.T) {
	for name, want := range map[string]string{
		"=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "-1": "'-1", "\t=1": "'\t'=1",
		"x;=1+1;y": "x;'=1+1;y", "x; +1": "x; '+1", "x\t=1": "x\t'=1", "x\n=1": "x\n'=1", "＝1+1": "'＝1+1", ";－1": ";'－1", " =1": " '=1",
		"Jean-Luc": "Jean-Luc", "a@example.com": "a@example.com", "x;y=1": "x;y=1", "Ärzte": "Ärzte",
	} {
		s := newPeopleSite(t)
		s.text = name
		rows, err := csv.NewReader(strings.NewReader(s.send(admin, "/who.csv?find=matrix&actions=group", nil).Body.String())).ReadAll()
		if err != nil || len(rows) != 2 || rows[1][1] != want {
			t.Errorf("%q: %q, %v, want %q", name, rows, err, want)
		}
	}
}
