// Package doors holds what every door is made of. A door is a protocol for other services to ask for verdicts; each is
// a package below this one, and e3 is the first. A door translates and decides nothing: it reads a question out of a
// call, gateway/verdict judges it, and the door renders the verdict.
//
// Before a call comes to the door, the edge has framed it, authenticated the caller and charged their rates. The edge
// also renders the door's errors. A door that answers about calls of others is a SubRequest: it reads them, and the
// edge judges them as its own.
//
// To add a door: implement Door in a package of its own, add a row to the catalogue with `authorize` as its upstream,
// and list the door in the edge's configuration by the row's name. The row's action is the right to ask;
// gateway/verdict judges it for every question.
package doors
