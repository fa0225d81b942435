package consistency_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// built are the programs under test, by the name of the mutant ("" is the program).
var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "portcullis-consistency")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built.dir, built.paths = dir, map[string]string{}
	return servers.Run(m)
}

// edit replaces one text in a file of the program; the text has to be there exactly once.
type edit struct{ file, old, new string }

// program builds the program with edits, once for each name.
func program(t testing.TB, name string, edits ...edit) string {
	t.Helper()
	servers.NeedMongod(t) // before the time that it takes
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[name]; ok {
		return path
	}
	replace := map[string]string{}
	for i, e := range edits {
		path, err := filepath.Abs(filepath.Join("../..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		from := path
		if edited, ok := replace[path]; ok {
			from = edited
		}
		source, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), e.old); n != 1 {
			t.Fatalf("mutant %q: its text stands %d times in %s; it has to be written anew:\n%s", name, n, e.file, e.old)
		}
		replace[path] = filepath.Join(built.dir, fmt.Sprintf("%s-%d.go", word(name), i))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(source), e.old, e.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := json.Marshal(map[string]any{"Replace": replace}) // strings always render
	overlay, path := filepath.Join(built.dir, word(name)+".json"), filepath.Join(built.dir, "portcullis-"+word(name))
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", path, "../../cmd/portcullis").CombinedOutput(); err != nil {
		t.Fatalf("building %q: %v\n%s", name, err, out)
	}
	built.paths[name] = path
	return path
}

// word makes a name fit for a file.
func word(name string) string { return strings.ReplaceAll(name, " ", "-") }
