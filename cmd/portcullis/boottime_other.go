//go:build !linux

package main

import "time"

var started = time.Now()

// bootTime may stand still while the machine is suspended: a lease is for Linux, and with
// --freshness-lease 0 no clock is trusted.
func bootTime() time.Duration { return time.Since(started) + 1 }
