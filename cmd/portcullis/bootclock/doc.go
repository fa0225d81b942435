// Package bootclock measures leases. Its clock only goes forward. Unlike Go's monotonic clock, on
// Linux it also counts the time of a suspended machine: a lease taken before the suspension is over
// after it.
//
// On other systems the clock may stand still while the machine is suspended; there
// --freshness-lease 0 trusts no clock.
package bootclock
