// Package doors holds what every door is made of. A door is a protocol in which other services ask
// for verdicts; each is a package below this one, and e3 is the first.
//
// A door translates and decides nothing: it reads a question out of a call, has gateway/verdict
// judge it, and renders the verdict. The edge has framed the call, found out who calls and held
// them to their rates before it comes to the door, and renders the door's errors.
//
// A door that is asked about calls of others is a SubRequest: it reads them, and the edge judges them as its own.
//
// To add a door: implement Door in a package of its own, give the catalogue a row whose upstream is
// `authorize`, and name the door in the edge's configuration under the row's name. The row's action is the right to ask,
// which gateway/verdict judges for every question.
package doors
