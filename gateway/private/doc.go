// Package private is the HTTP API of the private listener, for operators and for the commands of this program: probes,
// metrics, the status, the keys of assertions, the tree in force, the users and the decisions. It also has the side of a
// command that asks a running gateway, so that each line of an answer is described once.
//
// Users and decisions are for callers with a credential, of the accounts in which the policy in force lets them call the
// routes of the public listener that tell the same. Whoever reaches the listener may read the rest. A name of another
// site that leads here is refused, so that no page in a browser reads it.
package private
