// Package areatest is what the tests of the areas share: a store of its own with a clock that a test moves,
// accounts with their users, callers, and the way in which an answer is rendered. Only tests import it.
//
// An area's own tests embed World, add its service, and build its requests.
package areatest
