package policies_test

import (
	"os"
	"path/filepath"
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
