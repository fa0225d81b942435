// Package doors puts one corpus of questions through every door of the gateway: for equal questions all
// answer alike. A further door is one adapter (door) in the list of doors.
//
// A door of calls (forward-auth, verify, Envoy's checks, a call through the gateway) gets the corpus's questions with
// an equal call: isCall and isNamed choose them. The policy tree has a row of a host of its own for each action of the
// corpus.
package doors
