package load_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// How large the run is. Limits are judged on the defaults only.
var (
	pairs       = flag.Int("pairs", 15, "how many pairs of windows a ratio is taken from")
	window      = flag.Duration("window", 500*time.Millisecond, "how long one window takes")
	asked       = flag.Int("asked", 1000, "how many users questions are about, 100 questions each")
	large       = flag.Int("large", 100000, "how many users the large account has")
	connections = flag.Int("connections", 16, "how many connections the client holds")
	onlyCold    = flag.Bool("cold", false, "measure only users who were never asked about before")
)

// envBare has the test's program be the bare handler.
const envBare = "PORTCULLIS_TEST_LOAD_BARE"

func TestMain(m *testing.M) {
	if os.Getenv(envBare) != "" {
		os.Exit(serveBare())
	}
	os.Exit(servers.Run(m))
}
