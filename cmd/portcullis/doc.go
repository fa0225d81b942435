// Command portcullis is the gateway and its tools: serve, token, bootstrap, check, why, policy,
// decisions, provisioner, store, keys, health, version.
//
// It is the only package that names a concrete engine. Each command has a file of its name;
// wire.go puts the parts together, serve.go starts and drains them. The settings are in
// config, the log and the metrics in observe, the master key in masterkey.
package main
