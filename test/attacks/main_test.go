package attacks_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// builder builds the programs under attack.
var builder *overlay.Builder

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	defer servers.Stop()
	if err := servers.Temporary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	builder = overlay.NewBuilder("../..", os.TempDir())
	return m.Run()
}
