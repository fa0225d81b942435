// Package wire is the JSON edge of every area: strict decoding that reports all problems of a
// request together, the three error bodies, the table from an error's kind to its status,
// paging, and the form of a handler.
//
// Handlers are functions from Request to Response and know no web framework, so the same
// handler serves in the gateway's process and in a resource process behind it.
//
// # Rejected
//
// Decoding into tagged structs, which stops at the first problem and can't tell an absent field
// from an empty one.
package wire
