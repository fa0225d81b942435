// Package private is the HTTP API of the private listener, for operators and for the commands of this program: probes,
// metrics, the status, the keys of assertions, the tree in force and those before, the users and the decisions. It also has the
// commands' side, the client of a running gateway, so each line of an answer is described once.
//
// Users, decisions and the console's sessions need a credential. A caller reads users and decisions of an account if
// the policy in force allows them the routes of the public listener with the same data. Another gateway shows an
// assertion. The rest is for everybody who reaches the listener. A foreign site's name for the listener's address is
// refused except for probes, status, metrics and keys, so no page in a browser reads anything else.
package private
