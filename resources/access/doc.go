// Package access is access management: roles and their assignments, accounts, projects and groups.
//
// Policy has allowed a request before a handler here sees it; each handler asks
// again inside the transaction of its change, on that transaction's facts, so that
// an actor who was demoted meanwhile changes nothing. What the data itself forbids
// (the last admin, a name in use, a grant beyond the granter) is checked in that same
// transaction. Rejected: checks before the transaction, each of which is a race.
package access
