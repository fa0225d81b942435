// Package masterkey finds the master key of a process and compares it with the store.
//
// The key is in a file readable by its owner only, or by its group if the file is root's. It is a named file, never
// made here, or master.key in the data folder, made by the first start. The store has the fingerprint of its key,
// and no process starts with another one: no API key and no page token would be valid any more, and
// replicas would not understand each other.
package masterkey
