// Package api holds the black-box tests: they build the program and talk to it over HTTP as its callers do,
// one file an endpoint.
//
// Every gateway that a test starts is set up as PORTCULLIS_TEST_STORE says: on the embedded store, on
// MongoDB, or as three replicas on MongoDB and Redis behind an address that gives each request to the
// next one. A test speaks of what was promised, and so holds on each; what it asks of one process
// (that it ends, what it logs) it asks of each of them.
package api
