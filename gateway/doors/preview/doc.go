// Package preview is the door of `POST /api/v1/accounts/{accountId}/preview`. It judges what changes to an account would
// give people and take from them, before somebody makes the changes.
//
// The area of the account reads the changes and makes them on facts in memory (resources/access). This door has each
// listed action judged at each place, on the facts before and after, by the engine of every other question. A preview is
// not a decision: it has no decision id and lets nobody in.
//
// Rejected: making the changes in a transaction that is given up. It would hold the store's only writer, or conflict with
// real changes, for as long as policy is asked.
package preview
