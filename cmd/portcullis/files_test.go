package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestThereIsRoomForAllConnections: and none of it is open.
func TestThereIsRoomForAllConnections(t *testing.T) {
	open := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		switch {
		case err == nil:
			return len(all)
		case os.Getenv("CI") == "true":
			t.Fatal(err)
		}
		t.Skip("there is no /proc here:", err)
		return 0
	}
	before := open()
	roomForFiles(5000)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`FDSize:\s+(\d+)`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no FDSize in\n%s", status)
	}
	if size, _ := strconv.Atoi(string(m[1])); size < 5000 {
		t.Errorf("room for %d files", size)
	}
	roomForFiles(1 << 30) // more than may be open is no error
	if after := open(); after != before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}
