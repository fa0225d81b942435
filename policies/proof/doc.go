// Package proof checks a policy tree before the gateway serves it. Load compiles a tree and returns it as an
// engine.Set, or Problems: every reason to reject it, one a line.
//
// The checks:
//   - The tree compiles under OPA's strict checks and against its own schemas, with the built-ins of package limits.
//   - The gateway can serve its routes, system roles and MCP servers. The schemas of the tree may be looser.
//   - Each app has its rules in its own folder, claims types that no other app claims, and answers every question of
//     the probes without an error.
//   - The policy denies the probes: questions of callers who lack one condition of access.
//   - The tests of the tree pass.
//
// Rejected:
//   - OPA's test runner for the check of a tree (`policy test` uses it). It copies every step of a table's evaluation,
//     with all variables, for traces that nobody reads here: a reload of the embedded tree made 19.0 million
//     allocations with it, and makes 2.0 million without. It also has no bounds of work and size, and tests need the
//     bounds of rules.
package proof
