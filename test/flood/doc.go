// Package flood holds the test of what a flood costs those who are no part of it: slow
// connections and questions that nobody asked before, thousands at once, beside callers who
// ask what they always ask.
//
// The flood comes from a process of its own, which gives way to others: on one machine it
// is the gateway's work that is to be measured, not that of making it. Ratios are of windows
// of one run. `make test` runs a small one; `make flood` the full one, and prints its figures.
package flood
