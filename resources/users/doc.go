// Package users is the people's own area: records and profiles,
// invitations, the end of a membership, and the first sign-in of somebody who was invited.
//
// Policy has allowed a request before a handler here sees it; every change asks again
// inside its transaction, on that transaction's facts, after it has moved the revision
// of each account that it touches. Users of no account are the account "": whatever
// makes a user, moves one into an account or out of it, or changes an address or an
// identity provider's subject moves that revision too, so that two requests for one
// address or one subject meet there and the second one sees what the first one did.
//
// A user in a path may be named by the external id or by the UUID, as policy takes
// either for oneself; one of another account is answered like one who is not there.
//
// A user who still has to sign in is bound by their invitation for its time only. Past
// it they can't sign in, and another account may take the address over: the record
// stays, the old membership ends. Rejected: a worker that ends old invitations, whose
// delay would decide who owns an address, and deleting the record, whose ids others
// may have kept.
package users
