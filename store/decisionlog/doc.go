// Package decisionlog records every verdict that a caller received, with its input, in the order of the answers.
//
// A log is a folder of segments, each a file of JSON lines. A line has the hash of the line before it, across segments.
// The last line of a segment is signed with a key derived from the master key. The store keeps the signed head, the
// newest line on disk. Verify finds each changed byte, and each added, moved or missing record. Retention leaves a
// signed beginning. A closed segment is compressed.
//
// A line is one Go struct for the writer and the readers. The writer reads each line back before it chains the next one
// to it; of a record that has only texts and numbers the encoder has checked as much. It keeps a verdict whose line can't
// be read without its input. Readers, the shipper, Verify and a start follow the chain by bytes, and pass over an
// unreadable line.
//
// Callers hand verdicts over (Record), and one goroutine writes them in groups. If the log is required, a caller waits
// until the group is on disk, and gives no verdict after an error. A failed group leaves nothing on disk. If the log is
// not required, nobody waits: verdicts without room in the queue are counted by account, and the log has the counts. In
// the queue an account makes room for accounts with less, and a batch for a single verdict.
//
// A record has the values of its question and not the input of policy, which is five times as long:
// what can be computed is computed when it is read (Input). The facts of a subject are a line of their
// own, written once for each content in a segment, so that every segment can be read alone.
// With a mask in the policy tree a record is the masked input, and its facts are masked, too: what a mask removes is
// never on disk.
//
// The record of a call at an MCP server, and that of its outcome, is a verdict's record with the call: filters, masks and
// the chain are the same. Its event has the call as the input.
//
// A start closes the segment that a crash has left. It cuts off a torn tail, for whose records nobody
// can have been answered, and sets it aside; it cuts nothing off before the head, and if lines are
// missing there, the log says so from then on.
//
// Rejected:
//   - a table in the store: each verdict would be a change, and the embedded store has one writer;
//   - one hash for a group of records: a record alone could not be shown to be in its place;
//   - a part of the queue for each account: most of it would be empty, and two accounts with batches
//     would still fill what is for all others;
//   - a record's members appended by hand: 200 lines more, for 1 µs less a verdict and the same allocations;
//   - a line of its own kind for calls: older programs would report each as unreadable;
//   - one type for whole and masked records: what a mask leaves has any form, and an older program would read it as whole;
//   - facts named by account, revision and user alone, without their content: a restored database
//     counts its revisions again.
package decisionlog
