package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// printed executes a command line and returns its output.
func printed(t *testing.T, line ...string) string {
	t.Helper()
	root, out := newRoot(), &bytes.Buffer{}
	root.SetArgs(line)
	root.SetOut(out)
	must.Do(t, root.ExecuteContext(t.Context()))
	return out.String()
}

// TestStatusOfKeysHasTheStoresOwn guarantees that the status names the line of the store's key. No gateway starts without
// it. After a rotation it is the first line only once a gateway has started.
func TestStatusOfKeysHasTheStoresOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(dir, "master.key")
	bootstrap := func(account string) {
		printed(t, "bootstrap", "--data-dir", dir, "--account", account, "--name", "A", "--admin-email", account+"@a.example")
	}
	rows := func() [][]string {
		var all [][]string
		for row := range strings.Lines(printed(t, "keys", "status", "--data-dir", dir)) {
			all = append(all, strings.Fields(row))
		}
		return all[1:]
	}
	want := func(step string, says ...string) {
		t.Helper()
		all := rows()
		if len(all) != len(says) {
			t.Fatalf("%s: %q", step, all)
		}
		for i, text := range says {
			if row := strings.Join(all[i], " "); !strings.Contains(row, text) {
				t.Errorf("%s: %q does not say %q", step, row, text)
			}
		}
	}
	bootstrap("acct-a-v1")
	want("one key", "in use 0 not before another one is in use")
	printed(t, "keys", "rotate", "--data-dir", dir)
	want("before the restart", "next 0", "in use 0 not before a gateway has started with the first line")
	both := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, both[:bytes.IndexByte(both, '\n')+1], 0o600))
	want("too early without the old line", "next 0", "missing 0 no gateway starts without it")
	must.Do(t, os.WriteFile(file, both, 0o600))
	bootstrap("acct-b-v1")
	want("after the restart", "in use 0", "accepted 0 wait for the tokens")
}
