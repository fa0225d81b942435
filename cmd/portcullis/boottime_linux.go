package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime goes on while the machine is suspended, which Go's own clock does not.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("portcullis: the system has no CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(now.Nano())
}
