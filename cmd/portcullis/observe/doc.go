// Package observe shows an operator what the process does: its log, with one line for each
// request, and its metrics.
//
// No request waits for the reader of the log. Lines wait in a queue of 4 MiB; a line that
// finds no room is dropped and counted. No line shows a credential or a character that a
// reader cannot see.
//
// Rejected: waiting for room in the queue, since every request would wait, and a queue
// without a bound, which would end the process.
package observe
