package main

import (
	"os"
	"runtime/debug"
)

// garbage is how much may be allocated, in percent of what is live, before memory is collected. What is live
// are mostly the caches, which each collection goes through: at Go's default of 100 that takes twice as much of
// the processor, and this takes as much memory again as the caches do.
const garbage = 200

// collectLater sets it, where the operator has not (GOGC). A limit that is set (GOMEMLIMIT) goes before it.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
