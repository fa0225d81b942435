// Package resources holds the domain of Portcullis: identifiers, actions,
// principals, accounts, projects, users, roles, assignments, groups, the facts
// a decision rests on, decisions, errors and pages.
//
// It imports the standard library only, so that every other package can speak
// its language without taking a transport, a policy engine or a database with
// it. Rejected: types an area each, which would have made every area that
// touches an assignment import another area.
package resources
