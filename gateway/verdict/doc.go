// Package verdict answers "may they?" for every way into the gateway: Judge judges the questions of a door, Enter a call of a
// route, and Decide and Grantable what a handler asks inside a call that is allowed. The right to ask, facts of one revision,
// ids, the decision log, and who is told which reason are here and nowhere else.
//
// It knows no protocol: a door (gateway/doors) reads the questions and renders the outcomes. It knows no store and no OPA
// either: Facts and Tree are interfaces, which store/rolecache and policies/engine implement.
//
// The zero Outcome denies, and so does every one with an error. Facts or a policy that fail in any way are an error of
// resources.KindUnavailable.
//
// Questions that are asked together are judged by one policy tree and at one time, those of an account on facts of one
// revision. One question is a batch of one. A problem of one question is its outcome's error; facts that can't be read end
// the batch. Rejected: a loop over single questions, in which a change between two of them shows a state that never was.
//
// Verdicts are not cached here: policies/engine caches its decisions by all that they depend on, and store/rolecache the
// facts. Rejected: a cache of whole responses in front of both, which had to know what every later step would look at.
package verdict
