// Command portcullis is the gateway and its tools: serve, token, bootstrap, check, why, policy,
// decisions, provisioner, store, keys, health, version.
//
// It is the only package that names a concrete engine. Each command has a file of its name. wire.go puts a process
// together from its parts, each made in a file of its own: stores, gates, trees, areas, queries, credentials, edge,
// decisionlog, private. serve.go starts them, reread.go has files read again, stop.go drains. The settings are in config,
// the log and the metrics in observe, the master key in masterkey.
package main
