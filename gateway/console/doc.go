// Package console is the web console: who can, why, what if, who changed it (docs/operate/console.md).
//
// It has no rights of its own. Each action of a page is one call of the public API with the token of the user who is
// signed in, so the gateway judges it, and records it under that user's name. The API says whether a change works;
// AuthZEN evaluations say whether a button is shown.
//
// Every page is a GET that works without a script, and every change is a form that is posted. The script of the
// package makes pages quicker to use and holds nothing that they need.
package console
