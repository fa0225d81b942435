// Package bootclock measures leases. Its clock only goes forward and, on Linux, also counts
// the time of a suspended machine, which Go's monotonic clock does not: a lease that was
// taken before the suspension is over after it.
//
// On other systems the clock may stand still while the machine is suspended; there
// --freshness-lease 0 trusts no clock.
package bootclock
