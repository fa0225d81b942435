package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CPU returns the processor time of a process's threads. /proc/PID/stat has it in steps of 10 ms only. It needs Linux.
func CPU(t testing.TB, pid int) (sum time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d has no schedstat: %v", pid, err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, wrong := strconv.ParseInt(first, 10, 64)
		if err = errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}
