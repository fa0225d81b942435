// Package outbox delivers messages to the outside, such as the invitation mail.
//
// An area inserts a message as a record, in the transaction of its cause. So an invitation and its
// mail are stored together or not at all, and the request does not wait for a mail server. A Worker
// delivers the message afterwards.
//
// A worker takes a lease on a message before it delivers it. The lease is a replaced record, so its
// revision lets one worker win. It also moves the due time of the message to the end of the lease:
// other workers pass over the message meanwhile, and a message of a killed replica becomes due
// again by itself. A delivery ends 30 s before its lease: the clocks of two replicas may differ by
// this much.
//
// Delivery is at least once. A process that dies between the mail server's answer and the deletion
// of the record sends the mail again. The Message-ID is the same, and receivers drop the repeat. A
// mail server takes part in no transaction, so exactly once is impossible.
//
// A failed delivery is tried again after a random time. Its bound doubles from 1 s to 15 min. After
// about two days, or at once when the server says that the recipient does not exist, the message
// stays as a dead letter with the reason.
//
// # Rejected
//
//   - Sending in the request: it is slow, and the mail is lost with the process.
//   - Sending in the transaction: a rollback can't call the mail back, and a slow server blocks the
//     writer.
//   - A queue beside the store: the two disagree after a crash.
//   - Deleting before sending: mails get lost.
//   - A leader among the replicas: a lease for each message does the same without an election.
package outbox
