// Package outbox delivers what must leave the system: the invitation mail first.
//
// A message is a record that an area inserts in the transaction of its cause, so there
// is no invitation without its mail and no mail without its invitation, and a mail
// server that is down costs the request nothing. A Worker delivers it afterwards.
//
// Whoever delivers a message holds a lease on it: one replaced record, refused by its
// revision to everybody else. The lease also moves the message's due time to its own
// end, so that what others work on is out of the way, and what a killed replica left
// behind becomes due again by itself. A delivery ends before its lease does by a margin
// of 30 s, which is how far the clocks of two replicas may differ.
//
// Delivery is at least once: a process that dies between the mail server's answer and
// the deletion of the record sends the mail again, under the same Message-ID, by which
// receivers drop the repeat. Nothing can be had that is better, since a mail server
// takes part in no transaction.
//
// A failed delivery is tried again after a random time below a bound that doubles from
// 1 s to 15 min; after about two days of it, or at once when the server says that there
// is no such recipient, the message stays as a dead letter, with the reason.
//
// Rejected: sending in the request (slow, and lost with the process), sending in the
// transaction (a rollback calls no mail back, and a slow server holds the writer), a
// queue of its own beside the store (two systems that disagree after a crash), deleting
// before sending (at most once: mails get lost), a leader for all replicas (a second
// election protocol, where one lease a message is enough).
package outbox
