package clients_test

import (
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/servers"
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }
