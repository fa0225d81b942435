// Package raw holds the tests of requests that are written byte by byte to a socket: framing, identity headers
// in several readings, slow senders and readers.
package raw
