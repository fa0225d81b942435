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

// Stolen returns the processor time that the host has given to other machines while this one wanted to run, and the
// time of all processors, both since the start, in steps of 10 ms. It needs Linux.
func Stolen(t testing.TB) (stolen, whole time.Duration) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	// cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are a part of user and nice.
	fields := strings.Fields(line)
	if len(fields) < 9 {
		t.Fatalf("/proc/stat begins with %q", line)
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Duration(ticks) * 10 * time.Millisecond
		whole += took
		if i == 7 {
			stolen = took
		}
	}
	return stolen, whole
}
