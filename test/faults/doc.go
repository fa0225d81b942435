// Package faults holds the tests of what the gateway promises while something else fails: Redis, MongoDB, the
// identity provider, the mail server, a policy, the reader of the log, the process itself.
package faults
