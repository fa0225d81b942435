// Package listen accepts the edge's connections: it counts them, refuses those beyond a bound, and
// closes each without losing an answer.
//
// A connection beyond the bound, in all or of one address, is told why before it is closed; in a
// flood only some are told. A refused connection costs nothing beyond that. The times that a
// request, an answer and an idle connection may take are the server's (fasthttp's timeouts).
//
// Rejected: a queue of accepted connections in this process, which repeats the kernel's; a header
// that says where a request comes from, which anybody can send.
package listen
