package console_test

import (
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

func TestMain(m *testing.M) {
	harness.TrustOwn()
	os.Exit(harness.Run(m))
}
