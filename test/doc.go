// Package test holds the test of who may import whom. The tests of the whole are in the folders below it; README.md
// lists them.
package test
