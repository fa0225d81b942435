// Package catalogue finds the row of the action catalogue for a call: a call that the gateway serves, and a call that a
// proxy, Envoy or a service asks about. Index holds all rows of one tree, and every door reads the same one.
//
// A call is refused where two servers could read it differently: paths follow the rules of authorization.check, methods are
// in capital letters, hosts have one name. HEAD is judged as GET.
//
// It is pure: no HTTP server, no policy, no store. Rejected: one table for the edge and another one for the doors, which
// could differ after a reload; and the rules of paths in a proxy's configuration, which would say a second time, in another
// language, who may do what.
package catalogue
