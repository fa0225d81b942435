package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TestClientNeedsTheStandardLibraryOnly: a program that imports the Go client has no other module in its list, and
// builds while nothing can be downloaded.
func TestClientNeedsTheStandardLibraryOnly(t *testing.T) {
	client := must.Get(filepath.Abs("../gateway/client"))(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), []byte("module example.test/service\n\ngo 1.26.0\n\n"+
		"require "+clientModule+" v0.0.0\n\nreplace "+clientModule+" => "+strconv.Quote(client)+"\n"))
	writeFile(t, filepath.Join(dir, "main.go"), []byte("package main\n\nimport (\n\t_ \""+clientModule+"\"\n\t_ \""+clientModule+"/clienttest\"\n)\n\nfunc main() {}\n"))
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOMODCACHE="+filepath.Join(dir, "empty"), "GOTOOLCHAIN=local")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("build", "-o", filepath.Join(dir, "service"), ".")
	if all, want := run("list", "-m", "all"), "example.test/service\n"+clientModule+" v0.0.0 => "+client+"\n"; all != want {
		t.Errorf("the modules are\n%swant\n%s", all, want)
	}
}
