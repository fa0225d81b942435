package flood_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// envRole makes this binary the flood itself.
const envRole = "PORTCULLIS_TEST_FLOOD_ROLE"

// program is what is tested, built once.
var program string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if os.Getenv(envRole) != "" {
		return beTheFlood()
	}
	dir, err := os.MkdirTemp("", "portcullis-flood")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "portcullis")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/portcullis").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program under test: %v\n%s", err, out)
		return 2
	}
	return m.Run()
}
