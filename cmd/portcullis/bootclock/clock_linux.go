package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// New returns a clock: the time since the machine was booted.
func New() func() time.Duration { return sinceBoot }

// sinceBoot returns the time since the machine started, the time of its suspension included.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("portcullis: the system has no CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(now.Nano())
}
