// Package sessions holds the sessions of the console and the one-time codes of its links. The store has hashes of
// their secrets alone, and the access token of a session sealed, so a copy of the store signs nobody in. Each replica
// takes every session.
//
// A session gives no right: the console sends its token to the API, which judges the user anew at each request. So
// a user who is suspended or removed can do nothing more from the answer on, with or without a session.
package sessions
