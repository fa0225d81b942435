// Package tier says in which tier a test runs: `make test` at each change, `make check` before a change is merged,
// `make nightly`. Only tests import it.
//
// Tests of `make nightly` alone have the build tag nightly. test/README.md lists the tiers.
package tier
