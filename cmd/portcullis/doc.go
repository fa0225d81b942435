// Command portcullis is the gateway and its tools: serve, token, bootstrap, check,
// policy, store, version.
//
// It is the only place that names a concrete engine and reads flags, environment
// and configuration file; everything else is given what it needs.
package main
