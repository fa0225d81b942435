package mcp_test

import (
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

func TestMain(m *testing.M) {
	code := harness.Run(m)
	removeTools()
	os.Exit(code)
}
