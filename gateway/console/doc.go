// Package console is the web console (docs/operate/console.md).
//
// A page calls the public API with the user's own token. The gateway judges and records these calls as it does any
// other. The console has no rights of its own.
//
// Pages work without a script. A posted form makes a change.
package console
