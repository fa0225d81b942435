package load_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// The size of the run. The limits are for the defaults.
var (
	pairs       = flag.Int("pairs", 15, "windows of each server for a ratio")
	window      = flag.Duration("window", 500*time.Millisecond, "length of a window")
	knownUsers  = flag.Int("known", 20000, "users with cached facts before the measurement")
	large       = flag.Int("large", 100000, "users of the large account, the new ones included")
	connections = flag.Int("connections", 16, "connections of the client")
	onlyTraffic = flag.Bool("traffic", false, "measure the kinds of traffic only, not the growth of the cost")
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(envPeer); settings != "" {
		os.Exit(servePeer(settings))
	}
	os.Exit(servers.Run(m))
}
