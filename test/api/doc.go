// Package api holds the black-box tests of the endpoints, one file an endpoint or an area. They speak of what
// was promised, and so hold in every set-up of test/harness.
package api
