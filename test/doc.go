// Package test holds the test of imports between packages. The tests of the whole are in the folders below it;
// README.md lists them.
package test
