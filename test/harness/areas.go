package harness

import (
	"os"
	"slices"
	"sync"
	"testing"
)

// AreasElsewhere says whether the resource areas are in a process of their own, with a store of its own,
// behind every gateway that a test starts: PORTCULLIS_TEST_PROCESSES=two.
func AreasElsewhere() bool { return os.Getenv("PORTCULLIS_TEST_PROCESSES") == "two" }

// beside are the processes with the areas, by the data folder of their gateway: one that
// is started again finds its areas as they were.
var beside struct {
	sync.Mutex
	byFolder map[string]*Gateway
}

// areasBeside gives the arguments of a gateway whose areas are elsewhere, and starts those.
func areasBeside(t testing.TB, dataDir string, args []string) []string {
	t.Helper()
	if !AreasElsewhere() || slices.Contains(args, "--role") {
		return nil
	}
	beside.Lock()
	defer beside.Unlock()
	areas := beside.byFolder[dataDir]
	if areas == nil {
		areas = StartAreas(t, dataDir)
		if beside.byFolder == nil {
			beside.byFolder = map[string]*Gateway{}
		}
		beside.byFolder[dataDir] = areas
		t.Cleanup(func() {
			beside.Lock()
			defer beside.Unlock()
			delete(beside.byFolder, dataDir)
		})
	}
	return []string{"--role", "gateway", "--upstream", "firewall=" + areas.URL, "--upstream", "clusters=" + areas.URL}
}

// StartAreas starts the areas with a store of their own, and the master key of the gateway.
func StartAreas(t testing.TB, gatewayDir string, args ...string) *Gateway {
	t.Helper()
	return StartAreasIn(t, t.TempDir(), gatewayDir, args...)
}

// StartAreasIn is StartAreas on a data folder that is there. It is one process in every
// set-up, at an address that it has again when it is started again.
func StartAreasIn(t testing.TB, dataDir, gatewayDir string, args ...string) *Gateway {
	t.Helper()
	args = append([]string{"--role", "resources", "--areas", "firewall,clusters", "--master-key-file", MasterKeyOf(t, gatewayDir)}, args...)
	return Launch(t, dataDir, slices.Concat(StoreArgs(t, dataDir, args), args)...)
}
