// Package load measures what an authorize call costs end to end, against a bare fiber handler
// and OPA's server, and how that cost grows with assignments, roles and users. It runs on
// request: make bench-load.
//
// Every server is a process of its own on one core with GOMAXPROCS=1, the client has the other
// core. What is compared is the servers' CPU time for each request: wall time would measure
// the client and the neighbours too. Ratios are taken from pairs of windows, one right after
// the other and in turns first, so that what disturbs the machine disturbs both; the median of
// the pairs is held against the limit, and its interval printed. Where two servers differ in
// what they have to do, the difference is in the other's favour: OPA's server checks no token
// and logs no decision.
// Rejected: in-process benchmarks, which leave out the kernel's part; tools for load such as
// wrk, which can't ask 100,000 different questions and look at every answer.
package load
