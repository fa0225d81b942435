package prose_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

const list = "testdata/counts.txt"

// TestProseGetsNoWorse guarantees that no package has more hard sentences and names than the list allows.
func TestProseGetsNoWorse(t *testing.T) {
	counts, allowed := packages(t, filepath.Join("..", "..")), limits(t)
	var lines strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		c, line := counts[folder], allowed[folder]
		for kind, places := range c.places {
			if len(places) > line[kind] {
				t.Errorf("%s has %d %s, and %s allows %d: rewrite what was added:\n\t%s",
					folder, len(places), titles[kind], list, line[kind], strings.Join(places, "\n\t"))
			}
			line[kind] = min(line[kind], len(places))
		}
		if line != [kinds]int{} {
			fmt.Fprintln(&lines, folder, line[clauses], line[phrases], line[names])
		}
		t.Logf("%-32s %4d sentences, %.2f relative words each, %d with two, %d phrases, %d names", folder, c.sentences,
			float64(c.relatives)/float64(max(c.sentences, 1)), len(c.places[clauses]), len(c.places[phrases]), len(c.places[names]))
	}
	if os.Getenv("PORTCULLIS_TEST_WRITE") != "" {
		must.Do(t, os.WriteFile(list, []byte(lines.String()), 0o600))
	}
}

// TestEachKindIsCounted guarantees that each kind is found, and at its place.
func TestEachKindIsCounted(t *testing.T) {
	var c count
	must.Do(t, c.add("x.go", `// Package x holds what that reader reads which asks. It is no cache. There is no other one.
// Else it would be one, of which there are many.
package x

type t struct{ own int }

func f(of int) (found int) {
	for at := range of {
		by, ok := at, true
	}
	var here int
}
`))
	want := [kinds][]string{
		{"x.go:1: Package x holds what that reader reads which asks."},
		{"x.go:1: It is no cache.", "x.go:1: Else it would be one, of which there are many.", "x.go:1: Else it would be one, of which there are many."},
		{"x.go:5: own", "x.go:7: of", "x.go:7: found", "x.go:8: at", "x.go:9: by", "x.go:11: here"},
	}
	for kind := range want {
		if !slices.Equal(c.places[kind], want[kind]) {
			t.Errorf("%s: %q, want %q", titles[kind], c.places[kind], want[kind])
		}
	}
	if c.sentences != 4 || c.relatives != 3 {
		t.Errorf("%d sentences with %d relative words, want 4 with 3", c.sentences, c.relatives)
	}
}

// packages counts every package below root, by folder.
func packages(t *testing.T, root string) map[string]*count {
	t.Helper()
	counts := map[string]*count{}
	must.Do(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != root && (base == "testdata" || strings.HasPrefix(base, ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go"):
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if counts[folder] == nil {
			counts[folder] = &count{}
		}
		return counts[folder].add(name, nil)
	}))
	return counts
}

// limits reads the list.
func limits(t *testing.T) map[string][kinds]int {
	t.Helper()
	text := must.Get(os.ReadFile(list))(t)
	allowed := map[string][kinds]int{}
	for line := range strings.Lines(string(text)) {
		var folder string
		var most [kinds]int
		if _, err := fmt.Sscan(line, &folder, &most[clauses], &most[phrases], &most[names]); err != nil {
			t.Fatalf("%s: %q: %v", list, line, err)
		}
		allowed[folder] = most
	}
	return allowed
}
