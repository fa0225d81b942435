package flood_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

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

// onCores has a command run on these cores.
func onCores(cores string, command []string) []string {
	return append([]string{"taskset", "-c", cores}, command...)
}

// whenIdle has a command run when nobody else has to: callers wait for the gateway, and not
// until the flood, which needs most of their core, has had its share.
func whenIdle(command []string) []string { return append([]string{"chrt", "--idle", "0"}, command...) }
