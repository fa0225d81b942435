package consistency_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// builder builds the programs under test.
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

// edit is an edit of a mutant.
type edit overlay.Edit

func edits(all []edit) []overlay.Edit {
	out := make([]overlay.Edit, len(all))
	for i, e := range all {
		out[i] = overlay.Edit(e)
	}
	return out
}

// program builds the program with edits, once for each name.
func program(t testing.TB, name string, changes ...edit) string {
	t.Helper()
	return builder.Program(t, name, edits(changes)...)
}
