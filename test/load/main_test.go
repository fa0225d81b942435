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
	pairs       = flag.Int("pairs", 15, "how many windows a ratio is taken from, of each server")
	window      = flag.Duration("window", 500*time.Millisecond, "how long one window takes")
	known       = flag.Int("known", 20000, "how many users have their facts cached before anything is measured")
	large       = flag.Int("large", 100000, "how many users the account has, with those who are seen for the first time")
	connections = flag.Int("connections", 16, "how many connections the client holds")
	onlyTraffic = flag.Bool("traffic", false, "measure the kinds of traffic only, not how the cost grows")
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(envPeer); settings != "" {
		os.Exit(servePeer(settings))
	}
	os.Exit(servers.Run(m))
}
