// Package areatest is shared by the tests of the areas: a store of its own with a clock for a test to move, accounts
// with their users, callers, and rendered answers. Only tests import it.
//
// An area's own tests embed World, add its service, and build its requests.
package areatest
