// Package users is the area of users: records and profiles, invitations, the end of a membership,
// and the first sign-in of an invited user.
//
// Policy has allowed a request before a handler here sees it. Every change bumps the revision of
// each account in it, and asks policy again on the facts of its transaction.
//
// The account "" stands for users without an account. Its revision is bumped by every change of
// membership, of an address or of an identity provider's subject, and by every new user. So two
// requests for one address or one subject conflict there, and the second one sees the result of the
// first.
//
// A path names a user by external id or UUID. A user of another account is answered like an unknown
// one.
//
// An invitation expires. After that the invited user can't sign in, and another account may invite
// the address: the user's record stays, their old membership ends.
//
// # Rejected
//
// A worker to end expired invitations: its delay would decide who owns an address. Deleting the
// record: other systems may have stored its ids.
package users
