package policies_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestATreeHasNoFileThatIsBeingWritten guarantees that a reader sees no draft.
func TestATreeHasNoFileThatIsBeingWritten(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, policies.WriteFile(dir, "authz/own.rego", []byte("package authz\n")))
	must.Do(t, os.Mkdir(filepath.Join(dir, "authz", "stuck.rego"), 0o755))
	if err := policies.WriteFile(dir, "authz/stuck.rego", []byte("package authz\n")); err == nil {
		t.Error("a folder was replaced")
	}
	if drafts, err := filepath.Glob(filepath.Join(dir, "authz", ".*")); err != nil || len(drafts) > 0 {
		t.Errorf("drafts %v, %v", drafts, err)
	}
	src, err := policies.Read(policies.Dir(dir))
	if err != nil || len(src.Files) != 1 || string(src.Files["authz/own.rego"]) != "package authz\n" {
		t.Errorf("%v, %q", err, src.Files)
	}
}

// TestAFileIsWrittenIntoTheCurrentFolder guarantees that a dot names the folder of the author.
func TestAFileIsWrittenIntoTheCurrentFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, policies.WriteFile(".", "policy.json", []byte("{}")))
	if text, err := os.ReadFile("policy.json"); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestWritersOfOneFileDoNotMixTheirTexts guarantees that several commands can write one file at once without an error. A
// reader sees the whole text of one.
func TestWritersOfOneFileDoNotMixTheirTexts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data.json")
	var writers sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		text := bytes.Repeat([]byte(letter), 1<<20)
		writers.Go(func() {
			for range 20 {
				if err := policies.WriteFile(dir, "data.json", text); err != nil {
					t.Error(err)
				}
				seen, err := os.ReadFile(path)
				if err != nil || len(seen) != len(text) || bytes.Count(seen, seen[:1]) != len(text) {
					t.Errorf("a reader sees a mixture of %d bytes, %v", len(seen), err)
				}
			}
		})
	}
	writers.Wait()
}
