// Package config holds the settings of the program: for each concern a struct with its flags,
// their defaults and what is wrong with their values.
//
// A flag wins over its environment variable, and the variable over the configuration file
// (Config.Fill). Validate returns every problem at once, each with the setting, what is wrong
// and the remedy; it changes nothing, and reads no file but the rights of those that are
// named.
//
// The lists of docs/reference/configuration.md are made from the flags: `make reference`.
package config
