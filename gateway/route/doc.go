// Package route reads request paths as they were sent. It finds the catalogue's row of a path and reads the account,
// project and resource in it. It finds everything two servers could read differently.
//
// It is pure, and decodes nothing: what a normaliser would change is refused, not repaired. Rejected: the framework's
// router, since it decodes and normalises before it matches.
package route
