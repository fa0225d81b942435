// Package listen accepts the edge's connections: it counts them, refuses those over a bound, and
// closes each without losing a response.
//
// A connection over a bound, in total or of one address, gets a response with the reason before it
// is closed; in a flood only some do, and the rest are closed without one. A refused connection
// costs nothing else. Under TLS it gets none, since a response would cost the handshake that the bound
// is to save. The timeouts of requests, responses and idle connections are the server's
// (fasthttp).
//
// Certificates are files that may change at any time; a change that is no good leaves the last good
// ones in use. HTTP/1.1 is all that the edge offers: the server behind it speaks nothing else.
//
// # Rejected
//
//   - Notices of the file system miss a mounted secret, whose links are swapped; the files are looked at
//     every two seconds instead.
//   - Resumed sessions beside client certificates would outlive the authority that let the client in.
//   - A queue of accepted connections in this process repeats the kernel's.
//   - A header that names the client's address can be sent by any client.
package listen
