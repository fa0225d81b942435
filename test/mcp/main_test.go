package mcp_test

import (
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
