// Package masterkey finds the master key of a process and holds it against the store.
//
// The key is in a file that nobody but its owner can read: a named one, which is never made
// here, or master.key in the data folder, which the first start makes. The store remembers
// the fingerprint of the key that it was made with, and no process starts with another one:
// no API key and no page token would be known any more, and replicas would not understand
// each other.
package masterkey
