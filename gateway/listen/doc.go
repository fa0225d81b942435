// Package listen accepts the edge's connections: it counts them, refuses those over a bound, and
// closes each without losing a response.
//
// A connection over a bound, in total or of one address, gets a response with the reason before it
// is closed; in a flood only some do, and the rest are closed without one. A refused connection
// costs nothing else. The timeouts of requests, responses and idle connections are the server's
// (fasthttp).
//
// # Rejected
//
//   - A queue of accepted connections in this process repeats the kernel's.
//   - A header that names the client's address can be sent by any client.
package listen
