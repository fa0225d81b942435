// Package console is the web console, for people who would rather look than read (docs/operate/console.md).
//
// Each action of a page is one call of the public API with the user's own token. The gateway judges and records it as
// any other call.
//
// A page works without a script, and a change is a posted form.
package console
