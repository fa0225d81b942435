package servers_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// envKilled is set in a process that makes folders and is killed.
const envKilled = "PORTCULLIS_TEST_KILLED"

// TestFoldersOfKilledTestsAreRemoved guarantees that the files of a killed test process, on the disk and in memory, do not
// outlive the start of the next one.
func TestFoldersOfKilledTestsAreRemoved(t *testing.T) {
	folders := func() []string {
		must.Do(t, servers.Temporary())
		return []string{os.TempDir(), must.Get(servers.NewAuthority())(t).File}
	}
	if os.Getenv(envKilled) != "" {
		fmt.Println(strings.Join(folders(), "\n"))
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	}
	t.Setenv("TMPDIR", t.TempDir())
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	process.Env = append(os.Environ(), envKilled+"=yes")
	out, err := process.Output()
	paths := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(paths) != 2 {
		t.Fatalf("%v: %q", err, out)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("the killed process left nothing: %v", err)
		}
	}
	folders()
	for _, path := range paths {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	servers.Stop()
}
