//go:build nightly

package flood_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
)

var (
	// one processor works all of the flood off while the others wait: 0.4 to 0.9 s were measured.
	one = size{rounds: 3, enough: 2, slow: 1000, cold: 5000, seconds: 13, times: 3, p99: time.Second, memory: 600, cores: gatewayCore}
	// two processors leave some of one to the others: 20 to 35 ms were measured.
	two = size{rounds: 3, enough: 2, slow: 1000, cold: 5000, seconds: 13, times: 3, p99: 50 * time.Millisecond, memory: 600, cores: gatewayCore + "," + othersCore}
)

// TestFullFloodLeavesTheOthersAlone is TestFloodLeavesTheOthersAlone with a thousand slow connections and five
// thousand questions, on processors of the gateway's own.
func TestFullFloodLeavesTheOthersAlone(t *testing.T) {
	apart(t)
	t.Run("one processor", one.leavesTheOthersAlone)
	stays := one
	stays.kept = true
	t.Run("one processor, and all stay until the last one is answered", stays.leavesTheOthersAlone)
	t.Run("two processors", two.leavesTheOthersAlone)
}

// In the full flood the callers and the flood have one core, and the gateway the other one, or both.
const (
	gatewayCore = "0"
	othersCore  = "1"
)

// apart keeps this process, and what it starts from now on, off the gateway's core.
func apart(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("taskset", "-a", "-c", "-p", othersCore, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		t.Fatalf("taskset: %v\n%s", err, out)
	}
	runtime.GOMAXPROCS(1)
}
