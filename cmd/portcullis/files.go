package main

import (
	"cmp"
	"os"

	"golang.org/x/sys/unix"

	"github.com/portcullis-authz/portcullis/gateway"
)

// otherFiles are those that are no connections of callers.
const otherFiles = 256

// roomForFiles has the system make room for as many files as this number of connections takes, 0 for as many as
// there are by default. Linux lets whoever opens a file for which there is no room wait for ten milliseconds, each
// time it doubles it for a process that has threads, and nobody else has that one's processor meanwhile.
func roomForFiles(connections int) {
	n := float64(cmp.Or(connections, gateway.DefaultLimits().Connections) + otherFiles)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		n = min(n, float64(limit.Cur)-1)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		return // it is only later that somebody waits
	}
	defer func() { _ = f.Close() }()
	if far, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, int(n)); err == nil {
		_ = unix.Close(far)
	}
}
