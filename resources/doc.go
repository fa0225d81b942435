// Package resources holds the domain of Portcullis: identifiers, actions, principals,
// accounts, projects, users, roles, assignments, groups, clusters, security groups, the facts
// that decisions depend on, decisions and errors.
//
// It imports the standard library only, so every other package can use these types without
// a transport, a policy engine or a database.
//
// # Rejected
//
// Types in each area: every area that touches an assignment would import another area.
//
// Packages of their own for the master key and the mask of credentials: gateway, policies, store and cmd use both, and
// each of them may import this package already.
package resources
