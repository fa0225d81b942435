// Package servers starts the real servers that tests need, on free loopback ports, and
// stops them when the test process is done. It is for tests only.
//
// A server whose binary is missing skips the test, loudly: its count stands in the last
// line of `make test`. Rejected: containers (they need an engine), and stand-ins.
package servers
