// Package listen accepts the edge's connections: it counts them, refuses those over a bound, and
// closes each without losing a response.
//
// A connection over a bound, in total or of one address, gets a response with the reason before it is closed; in a
// flood only some do, and the rest are closed without one. A refused connection costs nothing else. Under TLS it gets
// no response, since the handshake for it is the cost to be saved. The timeouts of requests, responses and idle
// connections are the server's (fasthttp).
//
// Certificate files may change at any time; after a bad change the last good ones stay in use. The edge offers HTTP/1.1
// only, like the server behind it.
//
// # Rejected
//
//   - Notices of the file system miss a mounted secret, since its links are swapped; a look at the files every two
//     seconds does not.
//   - Resumed sessions beside client certificates would outlive the authority of the client's certificate.
//   - A queue of accepted connections in this process repeats the kernel's.
//   - Any client can send a header with a client's address.
package listen
