package flood_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/test/binary"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// envRole makes this binary the flood itself.
const envRole = "PORTCULLIS_TEST_FLOOD_ROLE"

// envCrowd makes this binary the crowd.
const envCrowd = "PORTCULLIS_TEST_FLOOD_CROWD"

// program is what is tested, built once.
var program string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if os.Getenv(envRole) != "" {
		return beTheFlood()
	}
	if os.Getenv(envCrowd) != "" {
		return beTheCrowd()
	}
	var err error
	if program, err = binary.Build("../..", false); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return servers.Run(m)
}
