// Package access is the area of access management: roles and their assignments, accounts,
// projects and groups.
//
// Policy has allowed a request before a handler here sees it. Each handler asks policy again in the
// transaction of its change, on the facts of that transaction. A caller demoted meanwhile changes
// nothing. The same transaction checks the invariants of the data: the last admin, unique names, no
// grant beyond the caller's own permissions.
//
// # Rejected
//
// Checks before the transaction: each of them is a race.
package access
