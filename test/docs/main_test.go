package docs_test

import (
	"flag"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestMain builds the program for the commands only: links and limits need none.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	os.Exit(harness.Run(m))
}
