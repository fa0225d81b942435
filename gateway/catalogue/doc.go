// Package catalogue finds the row of the action catalogue for a call: a call to the gateway, or a call in the question
// of a proxy, Envoy or a service. Index holds all rows of one tree, and every door reads the same one.
//
// It refuses a call if two servers could read it differently: paths follow the rules of authorization.check, methods
// are in capital letters, hosts have one name. HEAD is judged as GET.
//
// It is pure: no HTTP server, no policy, no store. Rejected: one table for the edge and another one for the doors,
// since they could differ after a reload. Rejected too: the rules of paths in a proxy's configuration, a second
// statement of the permissions in another language.
package catalogue
