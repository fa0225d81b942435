// Package verdict answers "may they?" for every way into the gateway. Judge judges the questions of a door, Enter a
// call of a route. Decide and Grantable judge the questions of a handler inside an allowed call. The right to ask,
// facts of one revision, ids, the decision log and the reasons fit for each caller are here and nowhere else.
//
// It knows no protocol: a door (gateway/doors) reads the questions and renders the outcomes. It imports neither a store
// nor OPA: store/rolecache implements its FactSource, policies/engine its Tree.
//
// The zero Outcome denies, and so does every one with an error. A failure of the facts or of policy is an error of
// resources.KindUnavailable.
//
// One policy tree judges all questions of a batch at one time, those of an account on facts of one revision. One
// question is a batch of one. A problem of one question is its outcome's error; unreadable facts end the batch.
// Rejected: a loop over single questions, since a change between two of them shows a state that never was.
//
// A use by an agent needs two verdicts, the user's with the agent's part in the question, and the agent's own. Both are
// on the same facts, and the second one is recorded inside the first.
//
// This package does not cache verdicts: policies/engine caches its decisions, and store/rolecache the facts. Rejected:
// a cache of whole responses in front of both, since its keys would need all inputs of every later step.
package verdict
