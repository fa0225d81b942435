package flood_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// Where a ratio is judged, the gateway has one core, and the callers and the flood have
// another one: on what they take of it no machine of callers would have to wait.
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

// onCore has a command run on the gateway's core.
func onCore(command []string) []string {
	return append([]string{"taskset", "-c", gatewayCore}, command...)
}

// whenIdle has a command run when nobody else has to: callers wait for the gateway, and not
// until the flood, which needs most of their core, has had its share.
func whenIdle(command []string) []string { return append([]string{"chrt", "--idle", "0"}, command...) }
