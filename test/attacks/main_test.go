package attacks_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
)

// builder builds the programs under attack.
var builder *overlay.Builder

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "portcullis-attacks")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	builder = overlay.NewBuilder("../..", dir)
	return m.Run()
}
