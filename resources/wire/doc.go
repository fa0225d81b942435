// Package wire is the JSON edge of every area: strict decoding with all problems at
// once, the three error bodies with the one table from kind to status, paging, and
// the form of a handler.
//
// Handlers are functions from Request to Response rather than a web framework's, so
// that the same handler serves the gateway's own process and a resource process
// behind it. Rejected: decoding into tagged structs, which stops at the first
// problem and can't tell absent from empty.
package wire
