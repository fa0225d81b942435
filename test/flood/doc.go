// Package flood tests the cost of a flood for other callers: slow connections and new questions, thousands at once,
// beside callers with their usual questions. The flood comes from a process of its own, and sends everything as fast as
// it can: its duration is printed.
//
// Elsewhere callers, flood and gateway have machines of their own. So the full one runs on two cores. The gateway has
// one, with cache hits and misses in each other's way most, and then both. Callers and flood have the other one, and
// the flood runs on it when the callers do not. The time runs from the moment the callers' system has sent a question
// until it has the answer. This is the gateway's part, without the callers' waits for a processor held by the flood or
// its packets.
//
// Another flood is a burst of listings of another user's keys. They hold sessions of the store while they ask policy:
// the longest wait of any caller is judged there.
//
// A third one is a crowd: one tenant sends the costliest request of a kind on 48 connections. Another tenant's
// searches, checks, batches, lists and changes are judged by their longest wait.
//
// Ratios are of windows of one run. `make test` runs a small one on any number of cores, with a flood that is only
// nice; `make flood` runs the full one, and prints its figures.
package flood
