// Package test holds the tests of the whole: the black box, which builds the program and talks to it
// over HTTP as its callers do, one file an endpoint; and who may import whom. Nothing but tests lives
// here, so no other package can come to lean on it. The real servers that tests need are started by
// test/servers.
package test
