// Package flood holds the test of what a flood costs those who are no part of it: slow
// connections and questions that nobody asked before, thousands at once, beside callers who
// ask what they always ask.
//
// The flood comes from a process of its own, and sends all it has as fast as it can: how long
// that took is printed. Elsewhere callers, flood and gateway are on machines of their own, so
// the full one is run on two cores: the gateway has one, where cache hits and misses are in each
// other's way most, and then both; callers and flood have the other one, on which the flood
// runs whenever the callers do not. The time is measured from when their system has sent a
// question until it has the answer, which is the gateway's part, and no wait of the callers
// for a processor that the flood or its packets hold.
//
// Another flood is a burst of listings of another user's keys, which hold sessions of the
// store while they ask policy: the longest wait of any caller is judged there.
//
// A third one is a crowd: one tenant asks on 48 connections for what costs the most of its kind, and another
// tenant's searches, checks, batches, lists and changes are judged by their longest wait.
//
// Ratios are of windows of one run. `make test` runs a small one, on whatever cores there are
// and with a flood that is only nice; `make flood` the full one, and prints its figures.
package flood
