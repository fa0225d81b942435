// Command portcullis is the gateway and its tools: serve, token, bootstrap, check, why, policy, mcp, decisions, console,
// provisioner, store, keys, health, version.
//
// It is the only package that names a concrete engine. A command has a file of its name, and one more for each of its
// larger subcommands (policydiff.go). wire.go puts a process together from its parts, each made in a file of its own:
// stores, gates, trees, areas, queries, credentials, edge, mcpdoor, decisionlog, private, console, demo. serve.go starts
// them, hangups.go has files read again, stop.go drains. The settings are in config, the log and the metrics in observe,
// the master key in masterkey.
package main
