// Package interop holds the gateway to the scenarios of the AuthZEN working group: the questions and answers of the
// to-do list and of the search of records (testdata), with a policy tree whose apps answer them (policies).
//
// The questions of its API gateway are left out: they name a subject "identity" and a resource "route", which is a type
// of the platform here.
package interop
