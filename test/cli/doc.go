// Package cli holds the tests of the program's commands and settings: what each one prints and its exit code.
package cli
