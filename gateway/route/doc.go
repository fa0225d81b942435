// Package route reads request paths as they were sent: which row of the catalogue a path belongs to,
// which account, project and resource it names, and what two servers could read differently in it.
//
// It is pure, and decodes nothing: what a normaliser would change is refused, not repaired. Rejected:
// the framework's router, which decodes and normalises before it matches.
package route
