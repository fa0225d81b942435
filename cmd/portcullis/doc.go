// Command portcullis is the gateway and its tools: serve, token, bootstrap, check, why, policy, mcp, decisions, console,
// provisioner, store, keys, health, version.
//
// It is the only package that names a concrete engine. A command has a file of its name, and one more for each of its
// larger subcommands (policydiff.go). The files app_… put the process together that serve.go runs: app.go has its parts,
// and each other file makes one of them, app_hangups.go has files read again, app_stop.go drains. The settings are in
// config, the log and the metrics in observe, the master key in masterkey, the data of the demo in demo.
package main
